import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { newUserCode, readUserCode, showUserCode } from "../../../src/http/oauth/device-authorization.js";
import { capturedLog } from "../../support/captured-log.js";
import { useOAuthService } from "./fixture.js";

it("is read in any notation, and not from an invalid code", () => {
  for (const typed of ["BCDFGHJK", "bcDf-GhjK", " BCDF GHJK\n", "B C D F - G H J K", "BCDF–GHJK", "BCDF\u00a0GHJK"])
    expect([typed, readUserCode(typed)]).toEqual([typed, "BCDFGHJK"]);
  const wrong = ["", "BCDF-GHJ", "BCDF-GHJKL", "ABCD-EFGH", "BCDF_GHJK", "BCDF1GHJ", "BCDFGHJ\u017f", "BCDFGHJK\u0130"];
  for (const typed of wrong) expect([typed, readUserCode(typed)]).toEqual([typed, null]);
});

it("is read from any text or not at all, and read back from its two halves", () => {
  // The unit "binary" takes seconds to build.
  const unit = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const code = readUserCode(text);
      return code === null || /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(code);
    }),
  );
  for (let made = 0; made < 1_000; made++) {
    const code = newUserCode();
    expect(showUserCode(code)).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(readUserCode(showUserCode(code).toLowerCase())).toBe(code);
  }
});

describe("a code that another device has", () => {
  const { log, lines } = capturedLog();
  const service = useOAuthService({ log });
  beforeAll(async () => {
    // Simulate that the first codes tried belong to other devices: their rows are not inserted.
    await service.db.sql.unsafe(`
    create sequence public.tries;
    create table public.taken as select 0 as codes;
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

  it("is refused for the second device", async () => {
    const begin = async (deviceCode: string) => {
      const [row] = await service.db.sql<[{ answer: object }]>`
      select svc_api.begin_device_authorization(${Buffer.from(deviceCode)}, 'BCDFGHJK', 'svc-cli', 'here', 'here') as answer`;
      return row.answer;
    };
    expect(await begin("one")).toEqual({ status: "begun", expiresIn: 600, interval: 5 });
    expect(await begin("two")).toEqual({ status: "taken" });
  });

  it("makes the service try another code, up to five times", async () => {
    await taken(4);
    const asked = await service.ask();
    const rows = await service.db.sql`
      select from iam.device_authorizations where user_code = ${asked.user_code.replace("-", "")}`;
    expect(rows).toHaveLength(1);
    await taken(5);
    const reply = await service.form("/oauth/device_authorization", { client_id: "svc-cli" });
    expect(reply).toMatchObject({ status: 500, body: { error: "server_error" } });
    expect(lines).toMatchObject([{ err: { message: "5 random user codes in a row are taken" } }]);
  });
});
