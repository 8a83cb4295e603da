/** Bodies for the two endpoints of ingestion. */
import fc from "fast-check";
import { NEIGHBOUR_MODEL } from "../attacks/models.js";
import { evaluationCaughtUp } from "../faults/caught-up.js";
import { environmentOf } from "../faults/verification.js";
import { bodiesOf, body, mutantOf, type Body } from "./bodies.js";
import type { Ground } from "./ground.js";
import { Stored, type Accepted } from "./stored.js";

const LANES = 16;
/** Bodies that are compared together. */
const CHUNK = 1_000;
/** A new project is used after this many chunks, because customers are few and their traits have a size limit. */
const CHUNKS_OF_PROJECT = 10;

/** Sends the corpus and then `bodies` more, and compares what is stored after each chunk. */
export async function fuzzIngestion(
  ground: Ground,
  { bodies, corpus }: { bodies: number; corpus: readonly Buffer[] },
): Promise<void> {
  const { running, sql, documented, part } = ground;
  const { api } = await running.tenant("ingestion");
  let taken = 0;
  let project: { key: string; stored: Stored } | undefined;
  const openProject = async () => {
    const slug = `ingestion-${taken}`;
    const key = await api.createProject(slug, slug);
    // A schema that is not strict, so that names and values also reach the counting of violations.
    await api.deploy(slug, { ...NEIGHBOUR_MODEL, strictSchema: false });
    return { key, stored: new Stored(sql, await environmentOf(sql, slug), part) };
  };
  let done = 0;
  for (const chunk of chunks(bodies, part.seed, corpus)) {
    if (project === undefined || taken % CHUNKS_OF_PROJECT === 0) {
      await evaluationCaughtUp(running.cluster, running.signal);
      project = await openProject();
    }
    taken++;
    const { key, stored } = project;
    const accepted: Accepted[] = [];
    await ground.inLanes(LANES, chunk, async (one) => {
      const headers = { authorization: `Bearer ${key}`, ...one.headers };
      const attempt = { path: one.path, headers, body: one.bytes };
      const { status, text } = await ground.try(documented.operation("POST", one.path), attempt);
      if (status === 202) accepted.push({ body: one, answer: text });
      else if (one.isSound) part.found(`refused what must be accepted: ${text.slice(0, 500)}`, attempt);
    });
    await stored.compare(accepted);
    ground.onProgress((done += chunk.length));
  }
  await evaluationCaughtUp(running.cluster, running.signal);
}

function* chunks(bodies: number, seed: number, corpus: readonly Buffer[]): Generator<Body[]> {
  const textsPerChunk = Math.ceil(CHUNK / 6);
  for (let from = 0; from < corpus.length; from += textsPerChunk)
    yield corpus.slice(from, from + textsPerChunk).flatMap(bodiesOf);
  for (let from = 0; from < bodies; from += CHUNK) {
    const count = Math.min(CHUNK, bodies - from);
    const mutants = Math.floor(count / 3);
    const made = fc.sample(body, { seed: seed + from, numRuns: count - mutants });
    yield [...made, ...fc.sample(mutantOf(made), { seed: seed + from, numRuns: mutants })];
  }
}
