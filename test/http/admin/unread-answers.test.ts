import type { Socket } from "node:net";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { useIngest } from "../ingest/fixture.js";
import { headOf, openConnection } from "../ingest/raw-connection.js";

/** What one organization may leave unread: half of the total. A page with all events takes a little more than a third of it. */
const SHARE = 24 * 1024 * 1024;
const PATH = "/projects/app/events?env=test&limit=200";

const fixture = await useIngest({ answerBytesMax: 2 * SHARE });
const { token, organizationId } = fixture.owner;
const HEADERS = { Host: "svc", Authorization: `Bearer ${token}`, "X-Svc-Organization": organizationId };

beforeAll(async () => {
  const events = Array.from({ length: 14 }, () => ({
    customerId: "c",
    event: "e",
    properties: { text: "x".repeat(64_000) },
  }));
  for (let batch = 0; batch < 10; batch++) expect((await fixture.batch(events)).status).toBe(202);
});

it.each(["application/json", "text/csv"])(
  "limits what answers of type %s hold while their clients read nothing",
  async (type) => {
    const headers = { ...HEADERS, Accept: type };
    const ask = () => fetch(fixture.service.url + PATH, { headers });
    const status = async () => {
      const answer = await ask();
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await status()).toBe(200);
    const connections: Socket[] = [];
    const leaveUnread = () => {
      const { socket } = openConnection(fixture.service.url);
      onTestFinished(() => void socket.destroy());
      connections.push(socket.pause());
      socket.write(headOf(`GET ${PATH} HTTP/1.1`, headers));
    };
    // More for each try, since some may be refused themselves; several, because each answer that is read to its end takes long.
    const afterOthers = () => {
      for (let more = 0; more < 3; more++) leaveUnread();
      return status();
    };
    await expect.poll(afterOthers, { timeout: 20_000 }).toBe(503);
    const reason = "This organization has used up its share of the process's memory for answers.";
    expect(await (await ask()).json()).toMatchObject({ error: { code: "SERVICE_UNAVAILABLE", reason } });
    expect((await fixture.service.request("GET", "/projects", { by: fixture.owner })).status).toBe(200);
    for (const socket of connections) socket.destroy();
    await expect.poll(status, { timeout: 20_000 }).toBe(200);
  },
);
