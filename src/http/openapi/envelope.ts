import Type from "typebox";
import { exact } from "../admin/schemas-common.js";

const diagnostic = exact(
  { code: Type.String(), message: Type.String(), path: Type.String() },
  { title: "Diagnostic", description: "One of the things that are wrong." },
);

const failedCheck = exact(
  {
    name: Type.String({ description: "`startup`, `stopping`, `database`, `migrations` or `worker`." }),
    message: Type.String(),
  },
  { title: "FailedCheck", description: "A check of readiness that failed." },
);

/** The error envelope, as src/http/errors.ts renders it. */
export const errorEnvelope = exact(
  {
    error: exact({
      code: Type.String({ pattern: "^[A-Z]+(_[A-Z]+)*$", description: "Stable: programs may decide by it." }),
      message: Type.String({ description: "One sentence for people. Its words may change." }),
      requestId: Type.String({ description: "Of the header X-Request-ID." }),
      field: Type.Optional(Type.String({ description: "Where the mistake is, for example `events[3].customerId`." })),
      value: Type.Optional(Type.Unknown({ description: "What was found there, if it is short." })),
      reason: Type.Optional(Type.String({ description: "Why that is refused." })),
      fix: Type.Optional(Type.String({ description: "What to do about it." })),
      docs: Type.Optional(Type.String({ format: "uri", description: "The section of the code." })),
      diagnostics: Type.Optional(Type.Array(diagnostic, { description: "Everything that was found wrong." })),
      checks: Type.Optional(
        Type.Array(failedCheck, { description: "Of the probes: what keeps the process from serving." }),
      ),
    }),
  },
  { title: "Error", description: "Every refused request is answered with this document." },
);
