// Steps between the labels of an axis.

const STEPS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000];

// Return the least round step of which at most `most` make up `span`; `span` itself if there is none.
export const roundStep = (span, most) => STEPS.find((each) => span / each <= most) ?? span;
