import { expect, it } from "vitest";
import { Semaphore } from "../../src/http/semaphore.js";
import { QueueFullError } from "../../src/http/errors.js";

it("gives places to those who ask in turn, and to each no more than it may have", async () => {
  const places = new Semaphore({ places: 2, placesEach: 1, waitingMax: 10, waitMsMax: 10_000 });
  const entered: string[] = [];
  const leave: (() => void)[] = [];
  const ask = (who: string) =>
    void places.take(who).then((left) => {
      entered.push(who);
      leave.push(left);
    });
  for (const who of ["a", "a", "a", "b", "c"]) ask(who);
  await expect.poll(() => entered).toEqual(["a", "b"]);
  leave[0]!();
  await expect.poll(() => entered).toEqual(["a", "b", "a"]);
  leave[1]!();
  await expect.poll(() => entered).toEqual(["a", "b", "a", "c"]);
  leave[2]!();
  await expect.poll(() => entered).toEqual(["a", "b", "a", "c", "a"]);
});

it("refuses one who has as many as it may, waiting or at work, and nobody else", async () => {
  const places = new Semaphore({ places: 1, waitingMax: 10, each: 2, waitMsMax: 10_000 });
  const leave = await places.take("a");
  const waiting = [places.take("a"), places.take("b")];
  await expect(places.take("a")).rejects.toBeInstanceOf(QueueFullError);
  leave();
  (await waiting[0]!)();
  (await waiting[1]!)();
});
