import { expect, it } from "vitest";
import { project, startDev, STAGES } from "../../local/support/process.js";

// Section "Local engine (`svc dev`)". The default port is in the section "Limits".

interface Answer {
  status: number;
  body: { accepted?: boolean; state?: { lifecycle: string }; error?: { code: string } };
}

async function send(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const signedUp = { customerId: "c", event: "signed_up", properties: {} };
const created = { customerId: "c", event: "project_created", properties: { seats: 5 } };

/** `svc dev` in an author's directory, on a free port. */
async function start(...args: string[]) {
  const { directory, write } = await project();
  const dev = startDev(directory, args);
  const { url } = (await dev.next("ready")) as { url: string };
  return { directory, write, dev, url };
}

it("Listens on `http://127.0.0.1:<port>`. Accepts `POST /events` and `POST /v1/events`. Body fields: `customerId`, `event`, `properties`. No authentication header is used in the local flow. Each request returns `accepted: true` together with the customer's computed state.", async () => {
  const { url } = await start("--clock", "2026-03-02T10:00:00Z");
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const instant = "2026-03-02T10:00:00.000Z";
  for (const [index, path] of ["/events", "/v1/events"].entries()) {
    const customerId = `c${index}`;
    expect(await send(url + path, { ...signedUp, customerId })).toEqual({
      status: 202,
      body: {
        eventId: expect.stringMatching(/^evt_[0-9a-f]{16}$/) as string,
        accepted: true,
        queued: true,
        duplicate: false,
        state: {
          customerId,
          environment: "test",
          createdAt: instant,
          lastEventAt: instant,
          evaluatedThrough: instant,
          configVersion: null,
          traits: {},
          lifecycle: "trial",
          lifecycleEnteredAt: instant,
          segments: [],
          health: null,
          journeys: [
            {
              journeyId: "onboarding",
              status: "active",
              currentStep: "create",
              stepsData: {},
              startedAt: instant,
              completedAt: null,
              expiredAt: null,
            },
          ],
          signals: [],
          nextDueAt: "2026-04-01T10:00:00.000Z",
        },
      },
    });
    expect(await send(url + path, { ...created, customerId })).toMatchObject({ status: 202, body: { accepted: true } });
  }
  // An authentication header has no effect.
  const { status } = await send(`${url}/events`, signedUp, { Authorization: "Bearer svc_test_x" });
  expect(status).toBe(202);
});

it("State is in memory and resets when the process stops.", async () => {
  const { directory, dev, url } = await start();
  expect((await send(`${url}/events`, signedUp)).body.state?.lifecycle).toBe("trial");
  expect((await fetch(`${url}/customers/c`)).status).toBe(200);
  expect(await dev.stop()).toBe(0);

  const again = startDev(directory);
  const ready = (await again.next("ready")) as { url: string };
  expect((await fetch(`${ready.url}/customers/c`)).status).toBe(404);
});

const ONCE = STAGES.replace("atLeast(2)", "atLeast(1)");

it("Configuration reloads when a source file changes", async () => {
  const { write, dev, url } = await start();
  await send(`${url}/events`, signedUp);
  expect((await send(`${url}/events`, created)).body.state?.lifecycle).toBe("trial");
  await write("model/stages.ts", ONCE);
  await dev.next("reloaded");
  expect((await send(`${url}/events`, signedUp)).body.state?.lifecycle).toBe("activated");
});

it("unless watching is disabled.", async () => {
  const { write, dev, url } = await start("--no-watch");
  await send(`${url}/events`, signedUp);
  await write("model/stages.ts", ONCE);
  expect((await send(`${url}/events`, created)).body.state?.lifecycle).toBe("trial");
  // It ends without having reported a reload.
  const reloaded = dev.next("reloaded");
  const refused = expect(reloaded).rejects.toThrow("ended before it said reloaded");
  expect(await dev.stop()).toBe(0);
  await refused;
});
