import path from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { DemoApi } from "../../../src/demo/api.js";
import { simulatedInput } from "../../../src/demo/input.js";
import { compileDemoModel } from "../../../src/demo/model.js";
import { Receiver } from "../../../src/demo/receiver.js";
import { chooseStory, demoReport } from "../../../src/demo/report/report.js";
import { styleFor } from "../../../src/demo/report/style.js";
import { sendAll } from "../../../src/demo/send.js";
import { EXAMPLE_MODEL, Service } from "../../../src/demo/service/service.js";
import { settle, verify, WEBHOOK_TYPES } from "../../../src/demo/settle.js";
import { createDatabase } from "../../support/database.js";
import { isCluster } from "../../support/is-cluster.js";
import { useDirectory } from "../../support/directory.js";

const ENVIRONMENTS = 40;
const HOUR_MS = 3_600_000;
const base = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const inputs = Array.from({ length: ENVIRONMENTS }, (_, n) =>
  simulatedInput({ seed: n + 1, customers: 12, days: 90, base }),
);
/** Fixed rates for reports, as real ones depend on the machine. */
const NO_RATES = { events: 0, ingestSeconds: 1, evaluateSeconds: 1, deliverySeconds: 1, retries: 0, restarts: 0 };

/** Starts the whole service on the cluster, or on a separate PostgreSQL. */
async function start(directory: string, databaseUrl?: string): Promise<Service> {
  const name = databaseUrl === undefined ? "plain" : "cluster";
  const service = await Service.start({
    dataDir: path.join(directory, name),
    logFile: path.join(inject("logs"), `demo-${name}.log`),
    onRestart: (how) => {
      throw new Error(`the service on the ${name} ended: ${how}`);
    },
    ...(databaseUrl !== undefined && { environment: () => ({ DATABASE_URL: databaseUrl }) }),
  });
  onTestFinished(() => service.stop());
  return service;
}

/** The reports of all environments as text, once they are idle. */
async function reportsOf(service: Service): Promise<string[]> {
  const model = await compileDemoModel(EXAMPLE_MODEL);
  const signal = service.lost;
  const access = await service.bootstrap("demo", "demo@example.com");
  const api = new DemoApi({ url: service.url, ...access, signal });
  const environments = [];
  for (const [n, input] of inputs.entries()) {
    const project = `demo-${n + 1}`;
    const receiver = await Receiver.start();
    onTestFinished(() => receiver.stop());
    const apiKey = await api.createProject(project, project);
    await api.deploy(project, model.snapshot);
    const { secret } = await api.createWebhook(project, receiver.url, WEBHOOK_TYPES);
    receiver.expectSignaturesBy(secret);
    environments.push({ project, input, receiver, apiKey });
  }
  // All at once, each by one sender.
  await Promise.all(
    environments.map(({ input, apiKey }) => sendAll(input.read(), { url: service.url, apiKey, signal, senders: 1 })),
  );
  const reports = [];
  for (const { project, input, receiver } of environments) {
    const { overview } = await settle({ overview: () => api.overview(project), signal });
    verify(input, overview, receiver.tally);
    const customerId = chooseStory(receiver.tally.customers());
    const story =
      customerId === null
        ? null
        : {
            customer: await api.customer(project, customerId),
            timeline: await api.timeline(project, customerId),
          };
    const results = { input, model: model.title, overview, tally: receiver.tally, story, rates: NO_RATES };
    reports.push(demoReport(styleFor(false), results));
  }
  return reports;
}

describe.skipIf(!isCluster)("on a cluster, which a server without nodes is not", async () => {
  const directory = await useDirectory();
  it(`${ENVIRONMENTS} concurrent environments produce the same reports as on one PostgreSQL`, async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    const [plain, cluster] = await Promise.all([
      start(directory).then(reportsOf),
      start(directory, database.url).then(reportsOf),
    ]);
    expect(cluster).toEqual(plain);
    expect(new Set(cluster).size).toBe(ENVIRONMENTS);
  }, 900_000);
});
