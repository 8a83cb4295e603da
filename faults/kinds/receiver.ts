import type { Fault } from "./fault.js";

const ANSWERS = 5;

/** The receiver has accepted a message, but its answer is truncated. */
export const answersTruncated: Fault = {
  name: "receiver's answers truncated",
  strike: async ({ receiver }) => receiver.truncate(ANSWERS),
};

/** The receiver answers late. */
export const answersLate: Fault = {
  name: "receiver's answers late",
  strike: async ({ receiver }) => receiver.delay(ANSWERS),
};
