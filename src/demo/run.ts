/** One run of the demo, from an empty directory to the tables. */
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { DemoApi, type ApiOptions } from "./api.js";
import { type Input, openDataFile, simulatedInput } from "./input.js";
import { compileDemoModel, type CompiledModel } from "./model.js";
import type { DemoOptions } from "./options.js";
import { startProgress } from "./progress.js";
import { Receiver } from "./receiver.js";
import { chooseStory, demoReport } from "./report/report.js";
import { figure, styleFor } from "./report/style.js";
import { sendAll, type Sent } from "./send.js";
import { CLI_PROGRAM, databaseUrl, SERVER_PROGRAM, Service } from "./service/service.js";
import { settle, verify, WEBHOOK_TYPES } from "./settle.js";
import { shellWord } from "../words/text.js";

/** The owner of the demo's organization. */
const EMAIL = "demo@example.com";

/** Runs the demo and cleans up after it, also when it fails or is stopped. Throws a DemoFailure if the result is wrong. */
export async function runDemo(
  options: DemoOptions,
  { output, stop }: { output: NodeJS.WriteStream; stop: AbortSignal },
): Promise<void> {
  const say = (text: string) => output.write(`${text}\n`);
  const model = await compileDemoModel(options.model);
  const input = options.data === null ? simulatedInput(options) : await openDataFile(options.data);
  say(`${input.title}: ${figure(input.events)} events of ${figure(input.customers)} customers`);

  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-demo-"));
  const cleanUp: (() => Promise<void>)[] = [() => rm(directory, { recursive: true, force: true })];
  try {
    // PostgreSQL refuses to run as root and runs as a separate user, who must be able to enter this directory.
    if (process.getuid?.() === 0) await chmod(directory, 0o711);
    const dataDir = path.join(directory, "data");
    const receiver = await Receiver.start();
    cleanUp.unshift(() => receiver.stop());
    say("starting the service on an embedded PostgreSQL …");
    const onRestart = (how: string) =>
      say(`the service ended unexpectedly (${how}) and was started again; the senders continue`);
    const service = await Service.start({ dataDir, logFile: path.join(directory, "service.log"), onRestart });
    cleanUp.unshift(() => service.stop());
    const signal = AbortSignal.any([stop, service.lost]);
    const stage = { model, input, receiver, service, output, signal };
    const accessInfo = await demonstrate(stage).catch((error: unknown) => {
      // After an abort, the abort's reason explains the failure better than the resulting error.
      throw signal.aborted ? signal.reason : error;
    });
    if (!options.keep) return;
    const console = await service.signInLink(EMAIL);
    say(lookAround(accessInfo, model.directory, { console, database: await databaseUrl(dataDir) }));
    if (!signal.aborted) await once(signal, "abort");
    service.lost.throwIfAborted();
  } finally {
    for (const step of cleanUp) await step();
  }
}

interface Stage {
  model: CompiledModel;
  input: Input;
  receiver: Receiver;
  service: Service;
  output: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** Runs from an empty service to the printed report. Returns what the user needs to explore the service if it keeps running. */
async function demonstrate(stage: Stage) {
  const { model, input, receiver, service, output, signal } = stage;
  const access: ApiOptions = { url: service.url, ...(await service.bootstrap("demo", EMAIL)), signal };
  const api = new DemoApi(access);
  const apiKey = await api.createProject("Demo", model.project);
  await api.deploy(model.project, model.snapshot);
  const { secret } = await api.createWebhook(model.project, receiver.url, WEBHOOK_TYPES);
  receiver.expectSignaturesBy(secret);
  output.write(`the service answers at ${service.url} (process ${service.pid}); the model is deployed\n`);

  const startedAt = performance.now();
  const sent = await send(stage, apiKey);
  const sentAt = performance.now();
  const { overview, evaluatedAt } = await evaluate(stage, api);
  const { tally } = receiver;
  verify(input, overview, tally);

  const customerId = chooseStory(tally.customers());
  const story = customerId === null ? null : await readStory(api, model.project, customerId);
  const rates = {
    events: sent.events,
    ingestSeconds: (sentAt - startedAt) / 1_000,
    evaluateSeconds: (evaluatedAt - startedAt) / 1_000,
    deliverySeconds: tally.busyMs / 1_000,
    retries: sent.retries,
    restarts: service.restarts,
  };
  output.write(demoReport(styleFor(output.isTTY), { input, model: model.title, overview, tally, story, rates }));
  return { api: access, apiKey, customerId };
}

async function readStory(api: DemoApi, project: string, customerId: string) {
  return { customer: await api.customer(project, customerId), timeline: await api.timeline(project, customerId) };
}

async function send({ input, service, output, signal }: Stage, apiKey: string): Promise<Sent> {
  const progress = startProgress(output, "sending", input.operations, "operations");
  try {
    const onProgress = (operations: number) => progress.update(operations);
    return await sendAll(input.read(), { url: service.url, apiKey, signal, onProgress });
  } finally {
    progress.finish();
  }
}

/** Shows the rest of the evaluation, which began with the first batch, and then the deliveries. */
async function evaluate({ model: { project }, output, signal }: Stage, api: DemoApi) {
  const { events } = await api.overview(project);
  const progress = startProgress(output, "evaluating", events.accepted, "events");
  try {
    return await settle({
      signal,
      overview: () => api.overview(project),
      onOverview: ({ events, customersDue, webhooks }) => {
        // Pending includes trait updates, accepted does not.
        const done = Math.max(0, events.accepted - events.pending);
        progress.update(done, `| ${customersDue} customers due, ${webhooks.pending} deliveries to go`);
      },
    });
  } finally {
    progress.finish();
  }
}

/** @param directory the model's folder, which names the project for the commands */
function lookAround(
  { api, apiKey, customerId }: Awaited<ReturnType<typeof demonstrate>>,
  directory: string,
  { console, database }: { console: string; database: string },
): string {
  const svc = `node ${shellWord(relative(CLI_PROGRAM))}`;
  const target = `--directory ${shellWord(relative(directory))} --env test`;
  const customer = shellWord(customerId ?? "a-customer");
  return [
    "The service is still running. This link signs in to its console, once and within five minutes:",
    "",
    `  ${console}`,
    "",
    "In another terminal:",
    "",
    `  export SVC_API_URL=${api.url} SVC_ORGANIZATION=${api.organizationId} SVC_ACCESS_TOKEN=${api.accessToken}`,
    `  export SVC_API_KEY_TEST=${apiKey}`,
    `  ${svc} customers inspect ${customer} ${target}`,
    `  ${svc} config versions ${target}`,
    "",
    `  psql '${database}' -c 'select customer_id, lifecycle, last_event_at, next_due_at from svc_inspect.customers limit 10'`,
    `  psql '${database}' -c 'select lifecycle, count(*) from svc_inspect.customers group by 1 order by 2 desc'`,
    "",
    "  # another link to the console",
    `  DATABASE_URL='${database}' SVC_PUBLIC_URL=${api.url} node ${shellWord(relative(SERVER_PROGRAM))} users sign-in --email ${EMAIL}`,
    "",
    "Ctrl+C stops it and removes its data.",
    "",
  ].join("\n");
}

function relative(file: string): string {
  const short = path.relative(process.cwd(), file);
  return short === "" ? "." : short.startsWith("..") ? file : short;
}
