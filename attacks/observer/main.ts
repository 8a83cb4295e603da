/** The process of the observer: see observer.ts. */
import { connect } from "../../src/db/connect.js";
import type { Figures, ObserverSettings, Question } from "./figures.js";
import { Memory } from "./memory.js";
import { Neighbour } from "./neighbour.js";
import { Probes } from "./probes.js";
import { Questions } from "./questions.js";

const FINISH_MS_MAX = 60_000;

const settings = JSON.parse(process.argv[2] ?? "{}") as ObserverSettings;
const sql = connect(settings.databaseUrl, { max: 2, applicationName: "svc attacks observer", statementTimeoutMs: 0 });
const neighbour = new Neighbour(settings, sql);
const probes = new Probes(settings.url);
const questions = new Questions(settings);
const memory = new Memory(settings.pids);

// Ends with the parent, however that ends. Ctrl+C is handled by the parent.
process.on("disconnect", () => process.exit());
process.on("SIGINT", () => undefined);
process.on("message", (question: Question) => {
  void (async () => {
    if (question === "finish") await neighbour.finish(FINISH_MS_MAX);
    process.send?.(figures());
  })();
});
void neighbour.run();
void probes.run();
void questions.run();
void memory.run();
process.send?.("ready");

function figures(): Figures {
  const { refused, ...seen } = neighbour.take();
  return { ...seen, refused: { ...refused, ...questions.take() }, ...probes.take(), memory: memory.take() };
}
