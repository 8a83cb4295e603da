import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newUserCode, readUserCode, showUserCode } from "../../../src/http/oauth/device-authorization.js";
import { capturedLog } from "../../support/captured-log.js";
import { useOAuthService } from "./fixture.js";

it("is eight letters that make no word", () => {
  for (let made = 0; made < 1_000; made++) expect(newUserCode()).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
});

it("is shown in two halves", () => {
  expect(showUserCode("BCDFGHJK")).toBe("BCDF-GHJK");
});

it.each([
  "BCDF-GHJK",
  "BCDFGHJK",
  "bcdf-ghjk",
  "bcDfGhjK",
  " BCDF GHJK\n",
  "B C D F - G H J K",
  "BCDF–GHJK",
  "BCDF\u00a0GHJK",
])("is read however it is typed: %j", (typed) => {
  expect(readUserCode(typed)).toBe("BCDFGHJK");
});

it.each(["", "BCDF-GHJ", "BCDF-GHJKL", "ABCD-EFGH", "BCDF_GHJK", "BCDF1GHJ", "BCDFGHJ\u017f", "BCDFGHJK\u0130"])(
  "is not read from what is none: %j",
  (typed) => {
    expect(readUserCode(typed)).toBeNull();
  },
);

it("is what is read of any text, or nothing is", () => {
  // The unit "binary" takes seconds to be made.
  const unit = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const code = readUserCode(text);
      return code === null || /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(code);
    }),
  );
  fc.assert(
    fc.property(fc.nat(1_000), () => {
      const code = newUserCode();
      return readUserCode(showUserCode(code).toLowerCase()) === code;
    }),
  );
});

describe("one that another device has", () => {
  const { log, lines } = capturedLog();
  const service = useOAuthService({ log });
  beforeAll(async () => {
    // As if the first codes that are tried stood for other devices: their rows are not inserted.
    await service.db.sql.unsafe(`
    create sequence public.tries;
    create table public.taken (codes integer);
    insert into public.taken values (0);
    create function public.skip_taken() returns trigger language plpgsql as $$
    begin
      return case when nextval('public.tries') > (select codes from public.taken) then new end;
    end $$;
    create trigger _100_skip_taken before insert on iam.device_authorizations for each row execute function public.skip_taken();
    grant all on all tables in schema public to public;
  `);
  });

  const taken = (codes: number) => service.db.sql`
  with reset as (select setval('public.tries', 1, false)) update public.taken set codes = ${codes} from reset`;
  beforeEach(() => taken(0));

  it("is stored once: the second device needs another code", async () => {
    const begin = async (deviceCode: string) => {
      const [row] = await service.db.sql<[{ answer: object }]>`
      select svc_api.begin_device_authorization(${Buffer.from(deviceCode)}, 'BCDFGHJK', 'svc-cli', 'here', 'here') as answer`;
      return row.answer;
    };
    expect(await begin("one")).toEqual({ status: "begun", expiresIn: 600, interval: 5 });
    expect(await begin("two")).toEqual({ status: "taken" });
  });

  it("makes the service try another code", async () => {
    await taken(4);
    const asked = await service.ask();
    const [row] = await service.db.sql<[{ count: number }]>`
    select count(*)::integer as count from iam.device_authorizations where user_code = ${asked.user_code.replace("-", "")}`;
    expect(row.count).toBe(1);
  });

  it("is a fault where one random code after another is taken", async () => {
    await taken(5);
    const reply = await service.form("/oauth/device_authorization", { client_id: "svc-cli" });
    expect(reply.status).toBe(500);
    expect(reply.body).toMatchObject({ error: "server_error" });
    expect(lines).toEqual([
      expect.objectContaining({
        err: expect.objectContaining({ message: "5 random user codes in a row are taken" }) as object,
      }),
    ]);
  });
});
