/**
 * What lets a load go on after an exception, so that it finds the other mistakes too. Runs in the process of the author's modules;
 * types/guards.ts writes the calls of what is installed here.
 */
import { inert } from "../dsl/inert.js";

/** Stands for a value that could not be computed: whatever is made of it is sound where a condition may stand. */
const HOLE: unknown = inert();

/** Makes the guards known to the rewritten sources; `note` gets each exception that is not the consequence of another. */
export function installGuards(note: (error: unknown) => void): void {
  let failures = 0;
  const guard = (compute: () => unknown): unknown => {
    const before = failures;
    try {
      return compute();
    } catch (error) {
      // What fails after one of its parts did has been told already.
      if (failures === before) note(error);
      failures += 1;
      return HOLE;
    }
  };
  Object.assign(globalThis, { __svcGuard: guard, __svcHole: HOLE });
}

/** Takes holes out of a model's definition, so that they are not reported as parts of the wrong kind. */
export function removeHoles(definition: object): void {
  const parts = definition as Record<string, unknown>;
  for (const [name, part] of Object.entries(parts)) {
    if (part === HOLE) delete parts[name];
    if (typeof part !== "object" || part === null || !Object.values(part).includes(HOLE)) continue;
    // The members of a module cannot be removed.
    parts[name] = Array.isArray(part)
      ? part.filter((item) => item !== HOLE)
      : Object.fromEntries(Object.entries(part).filter(([, item]) => item !== HOLE));
  }
}
