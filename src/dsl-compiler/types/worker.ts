/** The thread of the type checker: TypeScript takes its time, during which the model is bundled and run. */
import { parentPort, workerData } from "node:worker_threads";

import { findMistakes } from "./check.js";
import type { Request } from "./checker.js";
import { guard } from "./guards.js";
import type { Places } from "./program.js";
import { authoredFiles, createProgram } from "./program.js";
import { relative } from "./range.js";
import { placeOf } from "./syntax.js";

const places = workerData as Places;
const program = createProgram(places);
// Making it links each node to its parent, also in files that cannot be checked.
const types = program.getTypeChecker();
const files = authoredFiles(program, places);
const byName = new Map(files.map((file) => [relative(places.directory, file.fileName), file]));

function answer(request: Request): unknown {
  switch (request.kind) {
    case "mistakes":
      return findMistakes(program, places);
    case "guard":
      return guard(files, types);
    case "places":
      return request.requests.map((place) => {
        const file = byName.get(place.location.file);
        return file && placeOf(file, place, places.directory);
      });
  }
}

// Requests are answered in their order.
parentPort!.on("message", (request: Request) => parentPort!.postMessage(answer(request)));
