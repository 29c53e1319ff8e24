// Keeps the page where the server cannot be reached: it opens, says so, and goes on when the server is back. Files are kept under
// the digest of this version; pages and data come from the server whenever it answers.

const KEPT = "arena-{{digest}}";
const FILES = "/web/{{digest}}/";

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(["/play", `${FILES}css/page.bundle.css`, `${FILES}js/main.bundle.js`, `${FILES}js/views.bundle.js`, `${FILES}icon.svg`])));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter((name) => name !== KEPT).map((name) => caches.delete(name)))));
});

// A call leads to the tab of the match that it is about, or to any other.
self.addEventListener("notificationclick", (event) => {
  const { data } = event.notification;
  event.notification.close();
  event.waitUntil(self.clients.matchAll({ type: "window" }).then((tabs) => (tabs.find(({ url }) => url === data) ?? tabs[0])?.focus()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode === "navigate" && !new URL(request.url).pathname.startsWith("/api/")) {
    event.respondWith(fetch(request).catch(() => caches.match("/play", { cacheName: KEPT })));
  } else if (new URL(request.url).pathname.startsWith(FILES)) {
    event.respondWith(caches.match(request, { cacheName: KEPT }).then((kept) => kept ?? fetch(request)));
  }
});
