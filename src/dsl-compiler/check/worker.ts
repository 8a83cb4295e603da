/** The thread of the type checker. TypeScript is slow; meanwhile the model is bundled and run. It serves one project after the other. */
import { parentPort } from "node:worker_threads";

import { relative } from "../diagnostics/diagnostic.js";
import { findMistakes } from "./check.js";
import type { Request } from "./checker.js";
import { guard } from "./exception-guards.js";
import { authoredFiles, createProgram, type Places } from "./program.js";
import { sourcePlaceOf } from "./syntax.js";

/** The author's files, as they were when the project was opened. */
let project: ReturnType<typeof open> | undefined;

function open(places: Places) {
  const program = createProgram(places);
  // Creating the checker links each node to its parent, also in files that cannot be checked.
  const types = program.getTypeChecker();
  const files = authoredFiles(program, places);
  const byName = new Map(files.map((file) => [relative(places.directory, file.fileName), file]));
  return { places, program, types, files, byName };
}

function answer(
  request: Exclude<Request, { kind: "open" | "close" }>,
  { places, program, types, files, byName }: ReturnType<typeof open>,
) {
  switch (request.kind) {
    case "mistakes":
      return findMistakes(program, places);
    case "guard":
      return guard(files, types);
    case "places":
      return request.requests.map((place) => {
        const file = byName.get(place.location.file);
        return file && sourcePlaceOf(file, place, places.directory);
      });
    case "texts":
      return request.files.map((file) => byName.get(file)?.text ?? "");
  }
}

// Requests are answered in their order.
parentPort!.on("message", (request: Request) => {
  if (request.kind === "open") project = open(request.places);
  else if (request.kind === "close") project = undefined;
  else parentPort!.postMessage(answer(request, project!));
});
