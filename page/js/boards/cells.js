// Land for a map of which nobody has drawn any, as a generated one or somebody's own: around each place all that is nearer to it
// than to any other place (its Voronoi cell), as far as it is near at all.

const CORNERS = 24; // of the disc that is near

// For each territory the corners of its land, in the units of the picture.
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

// What is left of a convex polygon on this side of the line half way to another place.
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
