/** Runs the same history through `svc dev` as well, and compares every customer's state. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import { parseAnswer, itemsOf, type ApiPage } from "./api.js";
import { DemoFailure } from "./failure.js";
import type { Input } from "./input.js";
import { sendAll } from "./send.js";
import { CLI_PROGRAM, readyUrl } from "./service/service.js";

export interface CompareOptions {
  model: string;
  input: Input;
  /** Fetches the state document of a customer from the service. */
  customer: (customerId: string) => Promise<object>;
  signal: AbortSignal;
}

const SETTLE_SECONDS = 5;
/** With one sender both get the same batches in the same order, and so number events alike; state documents contain these numbers. */
export const COMPARED_SENDERS = 1;
const EVENT_ID = /evt_([0-9a-f]{16})/g;
const PAGE = 200;
const READY_LINE = /(http:\/\/127\.0\.0\.1:\d+)/;

/**
 * Compares state documents byte for byte, except for `createdAt` and `configVersion`, which depend on the deployment, and for the offset of
 * the service's event numbers. @returns how many customers were compared @throws {DemoFailure} that shows the first customer that differs
 */
export async function compareWithLocal({ model, input, customer, signal }: CompareOptions): Promise<number> {
  const child = spawn(process.execPath, [CLI_PROGRAM, "dev", "--port", "0", "--no-watch", "--directory", model], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, SVC_SETTLE_SECONDS: String(SETTLE_SECONDS) },
  });
  try {
    const url = await readyUrl(child, READY_LINE).catch((cause: unknown) => {
      throw new DemoFailure("svc dev ended before it was ready", 1, { cause });
    });
    await sendAll(input.read(), { url, apiKey: "local", signal, senders: COMPARED_SENDERS });
    await evaluated(url, signal);
    let compared = 0;
    let offset = 0;
    const read = (page: string) => get<ApiPage<{ customerId: string }>>(page, signal);
    for await (const local of itemsOf(`${url}/customers?limit=${PAGE}`, read)) {
      const [ours, theirs] = [local, await customer(local.customerId)].map((document) =>
        JSON.stringify({ ...document, createdAt: null, configVersion: null }),
      );
      offset ||= firstNumber(theirs!) - firstNumber(ours!);
      if (renumbered(ours!, 0) !== renumbered(theirs!, offset))
        throw new DemoFailure(`a customer differs\n  svc dev:     ${ours}\n  the service: ${theirs}`);
      compared++;
    }
    if (compared !== input.customers)
      throw new DemoFailure(`svc dev has ${compared} customers, not ${input.customers}`);
    return compared;
  } finally {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
}

/** The number of the first event that a document names; 0 if it names none. */
function firstNumber(document: string): number {
  return parseInt(document.match(EVENT_ID)?.[0].slice("evt_".length) ?? "0", 16);
}

function renumbered(document: string, from: number): string {
  return document.replaceAll(EVENT_ID, (_, hex: string) => `evt_${parseInt(hex, 16) - from}`);
}

/** Waits until nothing is due, including operations that are held until the history has settled. */
async function evaluated(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { nextDueAt } = await get<{ nextDueAt: string | null }>(`${url}/clock`, signal);
    if (nextDueAt === null || Date.parse(nextDueAt) > Date.now() + SETTLE_SECONDS * 1_000) return;
    await delay(250, undefined, { signal });
  }
}

async function get<T>(address: string, signal: AbortSignal): Promise<T> {
  const { statusCode: status, body } = await request(address, { signal });
  return parseAnswer("GET", address, { status, text: await body.text() }) as T;
}
