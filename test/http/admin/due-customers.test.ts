import { beforeAll, expect, it } from "vitest";
import type { DueCustomer } from "../../../src/http/admin/answers.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { useSpec } from "../../spec/support/fixture.js";
import { rolledBack } from "../../support/database.js";
import { pagesOf } from "../../support/pages.js";
import { environmentId } from "../../support/service.js";
import { pages, type Page } from "./support/api.js";

const fixture = useSpec();
let environment: number;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const now = Date.now();
const inMs = (ms: number): string => new Date(now + ms).toISOString();

interface Timer {
  customerId: string;
  due: number | null;
  heldUntil?: number;
  setAside?: boolean;
}

async function store(timers: readonly Timer[]): Promise<void> {
  const { sql } = fixture.service.db;
  await sql`delete from svc.customers`;
  for (const { customerId, due, heldUntil, setAside = false } of timers) {
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, next_due_at, held_until, set_aside_at)
      values (
        ${environment}, ${customerId}, now(), ${due === null ? null : inMs(due)}, ${heldUntil === undefined ? null : inMs(heldUntil)},
        case when ${setAside}::boolean then now() end
      )`;
  }
}

const read = (query = "") => fixture.read<Page<DueCustomer>>(`due-customers?${query}`);

const dueInMs = (items: readonly DueCustomer[]) =>
  items.map(({ customerId, nextDueAt }) => [customerId, Date.parse(nextDueAt) - now]);

beforeAll(async () => {
  environment = await environmentId(fixture.service.db.sql, "app", "test");
});

const TIMERS: readonly Timer[] = [
  { customerId: "in time", due: 2 * HOUR },
  { customerId: "never", due: null },
  { customerId: "late", due: HOUR, heldUntil: 20 * HOUR },
  { customerId: "late, not due for long", due: 30 * HOUR, heldUntil: 20 * HOUR },
  { customerId: "late long ago", due: 3 * HOUR, heldUntil: -20 * HOUR },
  { customerId: "late, set aside", due: HOUR, heldUntil: 20 * HOUR, setAside: true },
  { customerId: "set aside", due: -HOUR, setAside: true },
];

it("lists customers by when their timers are due, also those whose last event was late", async () => {
  await store(TIMERS);
  expect(dueInMs((await read()).data)).toEqual([
    ["late", HOUR],
    ["in time", 2 * HOUR],
    ["late long ago", 3 * HOUR],
    ["late, not due for long", 30 * HOUR],
  ]);
  expect((await read()).data.map(({ isHeld }) => isHeld)).toEqual([false, false, false, false]);
});

it("lists them by the end of the hold, if later, while their timers wait", async () => {
  await store([...TIMERS, { customerId: "overdue", due: -MINUTE, heldUntil: 10 * HOUR }]);
  const expected = [
    ["in time", 2 * HOUR],
    ["late long ago", 3 * HOUR],
    ["overdue", 10 * HOUR],
    ["late", 20 * HOUR],
    ["late, not due for long", 30 * HOUR],
  ];
  const { items, sizes } = await pages(read, "", 2);
  expect([dueInMs(items), sizes]).toEqual([expected, [2, 2, 1]]);
  expect(items.filter(({ isHeld }) => isHeld).map(({ customerId }) => customerId)).toEqual(["overdue", "late"]);
});

it("continues where a page ended, also among those of one instant", async () => {
  const ids = Array.from({ length: 7 }, (_, n) => `c${n}`);
  await store(ids.map((customerId, n) => ({ customerId, due: HOUR, ...(n % 2 === 0 && { heldUntil: HOUR / 2 }) })));
  const { items, sizes } = await pages(read, "", 3);
  expect([items.map(({ customerId }) => customerId), sizes]).toEqual([ids, [3, 3, 1]]);
});

it.each([
  ["are due", "interval '1 minute'"],
  ["are overdue", "interval '-1 minute'"],
])("reads few pages, however many customers whose last event was late %s", async (_, due) => {
  await rolledBack(fixture.service.db.sql, async (tx) => {
    await tx.unsafe(`
      insert into svc.customers (environment_id, customer_id, created_at, next_due_at, held_until)
      select ${environment}, 'many ' || n, now(), now() + ${due} * n, now() + interval '1 day' - interval '1 second' * n
      from generate_series(1, 8000) as n`);
    await tx`analyze svc.customers`;
    const { token, organizationId } = fixture.owner;
    const hash = hashCredential(token);
    const list = () =>
      pagesOf(tx, tx`select svc_api.list_due_customers(${hash}, ${organizationId}, 'app', 'test', 50, null)`);
    await list();
    expect(await list()).toBeLessThan(500);
  });
});
