import type { Fault } from "./fault.js";

const ANSWERS = 5;

/** The receiver has taken a message, and its answer breaks off. */
export const answersTruncated: Fault = {
  name: "receiver's answers truncated",
  strike: async ({ receiver }) => receiver.truncate(ANSWERS),
};

/** The receiver takes its time. */
export const answersLate: Fault = {
  name: "receiver's answers late",
  strike: async ({ receiver }) => receiver.delay(ANSWERS),
};
