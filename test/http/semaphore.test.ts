import { expect, it } from "vitest";
import { Semaphore } from "../../src/http/semaphore.js";
import { QueueFullError } from "../../src/http/errors.js";

it("gives places in the order of requests, and to each client at most its share", async () => {
  const places = new Semaphore({ places: 2, placesEach: 1, waitingMax: 10, waitMsMax: 10_000 });
  const entered: string[] = [];
  const leave: (() => void)[] = [];
  const ask = (client: string) =>
    void places.take(client).then((left) => {
      entered.push(client);
      leave.push(left);
    });
  for (const client of ["a", "a", "a", "b", "c"]) ask(client);
  await expect.poll(() => entered).toEqual(["a", "b"]);
  leave[0]!();
  await expect.poll(() => entered).toEqual(["a", "b", "a"]);
  leave[1]!();
  await expect.poll(() => entered).toEqual(["a", "b", "a", "c"]);
  leave[2]!();
  await expect.poll(() => entered).toEqual(["a", "b", "a", "c", "a"]);
});

it("refuses a client that has its share of places, waiting ones included, and no other", async () => {
  const places = new Semaphore({ places: 1, waitingMax: 10, each: 2, waitMsMax: 10_000 });
  const leave = await places.take("a");
  const waiting = [places.take("a"), places.take("b")];
  await expect(places.take("a")).rejects.toBeInstanceOf(QueueFullError);
  leave();
  (await waiting[0]!)();
  (await waiting[1]!)();
});

it("gives the owners of one group together at most the group's share, and counts their waiting together", async () => {
  const places = new Semaphore({
    places: 4,
    placesEach: 2,
    placesOfGroup: 3,
    waitingMax: 10,
    each: 5,
    waitMsMax: 10_000,
  });
  const leave = await Promise.all(["a", "a", "b"].map((owner) => places.take(owner, "of a and b")));
  const waiting = ["b", "a"].map((owner) => places.take(owner, "of a and b"));
  await expect(places.take("b", "of a and b")).rejects.toBeInstanceOf(QueueFullError);
  (await places.take("c"))();
  leave[0]!();
  (await waiting[0]!)();
  (await waiting[1]!)();
});
