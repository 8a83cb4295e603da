import { beforeAll, beforeEach, expect, it } from "vitest";
import { useApi } from "./support/api.js";

const AT = "2026-03-01T10:00:00.000Z";

const api = useApi();
let id: number;
beforeAll(async () => {
  id = await api.environmentId();
});

beforeEach(async () => {
  const { sql } = api;
  await sql`truncate svc.customers, svc.inbox`;
  await sql`delete from graphile_worker._private_jobs`;
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, set_aside_at, set_aside_error)
    values (${id}, 'a', ${AT}, ${AT}, 'RangeError: one'), (${id}, 'b', ${AT}, ${AT}, 'Error: two'), (${id}, 'well', ${AT}, null, null),
      (${id + 1}, 'a', ${AT}, ${AT}, 'Error: of live')`;
  await sql`
    insert into svc.inbox (environment_id, customer_id, seq, not_before)
    values (${id}, 'a', 1024, 'infinity'), (${id}, 'a', 1025, 'infinity'), (${id}, 'b', 1026, 'infinity'),
      (${id}, 'well', 1027, '2999-01-01Z'), (${id}, 'well', 1028, null), (${id + 1}, 'a', 1029, 'infinity')`;
});

const post = (path: string) => api.post(`/customers${path}`);
const get = (path: string) => api.get(`/customers${path}`);

/** The customers that are set aside, those whose operations are held, and the environments with jobs. */
async function setAsideState() {
  const [row] = await api.sql<[{ setAside: string[]; held: string[]; jobs: number[] }]>`
    with environment as (select environment_id, name || ' ' as name from svc.environments)
    select
      array(select name || customer_id from svc.customers join environment using (environment_id)
        where set_aside_at is not null or set_aside_error is not null order by environment_id, customer_id) as "setAside",
      array(select distinct name || customer_id from svc.inbox join environment using (environment_id)
        where not_before = 'infinity' order by 1 desc) as held,
      array(select (payload ->> 'environmentId')::integer - ${id}::integer from graphile_worker._private_jobs) as jobs`;
  return { ...row };
}

it("one customer is released with its held operations, and no other; it is said when there was nothing to release", async () => {
  expect(await post("/well/release")).toMatchObject({ status: 200, body: { released: 0 } });
  expect(await setAsideState()).toMatchObject({ jobs: [] });
  expect(await post("/a/release")).toMatchObject({ status: 200, body: { released: 1 } });
  expect(await setAsideState()).toEqual({ setAside: ["test b", "live a"], held: ["test b", "live a"], jobs: [0] });
});

it("all customers of the environment are released, and operations scheduled for the future stay", async () => {
  expect(await post("/release")).toMatchObject({ status: 200, body: { released: 2 } });
  expect(await setAsideState()).toEqual({ setAside: ["live a"], held: ["live a"], jobs: [0] });
  const [row] = await api.sql`select not_before from svc.inbox where environment_id = ${id} and seq = 1027`;
  expect(row).toEqual({ not_before: new Date("2999-01-01T00:00:00Z") });
  expect(await post("/release")).toMatchObject({ status: 200, body: { released: 0 } });
});

it("a customer's backlog and the list of customers set aside give the reason", async () => {
  const [a, b] = ["RangeError: one", "Error: two"].map((error) => ({ at: AT, error }));
  expect((await get("/a/backlog")).body).toEqual({ pending: 2, ahead: 0, setAside: a });
  expect((await get("/well/backlog")).body).toEqual({ pending: 2, ahead: 1, setAside: null });
  expect((await get("/nobody/backlog")).status).toBe(404);
  const data = [
    { customerId: "a", setAside: a },
    { customerId: "b", setAside: b },
  ];
  expect(await get("?setAside=true")).toMatchObject({ status: 200, body: { data } });
  expect((await get("?setAside=yes")).status).toBe(400);
});
