// Land for a map without drawn land, such as a generated map: around each place all points that are nearer to it
// than to any other place (its Voronoi cell), up to a maximum distance.

const CORNERS = 24; // of the disc of that distance

// Return the corners of each territory's land, in the units of the picture.
export function landAround({ at, near }) {
  return at.map((here) => at.reduce((corners, there) => {
    const apart = Math.hypot(there[0] - here[0], there[1] - here[1]);
    return apart > 0 && apart < 2 * near ? cut(corners, here, there) : corners;
  }, disc(here, near)));
}

function disc([x, y], radius) {
  return Array.from({ length: CORNERS }, (_, n) => {
    const angle = (2 * Math.PI * n) / CORNERS;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

// Return the part of a convex polygon on this side of the line half way to another place.
function cut(corners, here, there) {
  const [dx, dy] = [there[0] - here[0], there[1] - here[1]];
  const [x, y] = [(here[0] + there[0]) / 2, (here[1] + there[1]) / 2];
  const beyond = corners.map((corner) => (corner[0] - x) * dx + (corner[1] - y) * dy);
  return corners.flatMap((corner, n) => {
    const next = (n + 1) % corners.length;
    const kept = beyond[n] <= 0 ? [corner] : [];
    if ((beyond[n] <= 0) === (beyond[next] <= 0)) return kept;
    const share = beyond[n] / (beyond[n] - beyond[next]);
    return [...kept, [0, 1].map((axis) => corner[axis] + share * (corners[next][axis] - corner[axis]))];
  });
}
