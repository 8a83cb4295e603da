import { expect, it, onTestFinished } from "vitest";
import { openProject, sendCalls } from "../../../faults/tracking/run.js";
import { useDatabase } from "../../support/database.js";
import { freePort } from "../../support/free-port.js";
import { violations } from "../../support/invariants.js";
import { startServiceProcess } from "../../support/service-process.js";

const db = await useDatabase();

it(
  "calls of both SDKs are stored exactly once, though the service is killed while it accepts them",
  { timeout: 180_000 },
  async () => {
    const project = await openProject(db.sql);
    const env = { SVC_PORT: String(await freePort()) };
    let service = await startServiceProcess(db.url, env, { role: "http" });
    onTestFinished(() => service.stop());
    const kill = async () => {
      await service.stop();
      service = await startServiceProcess(db.url, env, { role: "http" });
    };
    const sent = await sendCalls({ url: service.url, key: project.key }, 200, { each: 100, kill });
    expect(await project.stored()).toEqual(sent);
    expect(sent.quarantined).toBeGreaterThan(0);
    expect(await project.release()).toBe(sent.quarantined);
    const events = sent.events + sent.quarantined;
    expect(await project.stored()).toEqual({ ...sent, events, numbers: events, quarantined: 0 });
    expect(await violations(db.sql)).toEqual([]);
  },
);
