import type { QuestionWords } from "../../../backtest/question.js";
import { isDuration, parseDuration } from "../../../model/snapshot/duration.js";

/** What the options of `svc backtest` say. */
export interface Asked {
  outcome: string;
  within: string;
  every: string | undefined;
  from: string | undefined;
  to: string | undefined;
  sample: number | undefined;
  version: string | undefined;
  model: string | undefined;
  against: string | undefined;
  presentTraits: boolean;
  csv: boolean;
  markdown: boolean;
}

/** The words of the question. @param end before which a duration lies, in milliseconds */
export function wordsOf({ outcome, within, every, from, to }: Asked, end: number): QuestionWords {
  const instant = (text: string) => (isDuration(text) ? new Date(end - parseDuration(text)).toISOString() : text);
  return {
    outcome,
    within,
    ...(every === undefined ? {} : { every }),
    ...(from === undefined ? {} : { from: instant(from) }),
    ...(to === undefined ? {} : { to: instant(to) }),
  };
}
