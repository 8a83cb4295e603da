import type { Out } from "../../output/out.js";

/** The commands of `svc ai`, by the second of their words. */
export type AiTask =
  | "model-success"
  | "suggest-events"
  | "explain-config"
  | "debug-customer"
  | "why-not-activated"
  | "generate-instrumentation-plan";

/** What a command of `svc ai` found out by itself, without any language model. */
export interface Facts {
  task: AiTask;
  /** As a program reads them. */
  document: Readonly<Record<string, unknown>>;
  /** As people read them. */
  text: (out: Out) => string;
  /** As Markdown, for a file; what people read, in a block, unless given. */
  markdown?: string;
  /** What of them may be sent. */
  sent: Readonly<Record<string, unknown>>;
  /** Puts identifiers back into an answer, where others were sent instead. */
  restore?: (answer: string) => string;
}
