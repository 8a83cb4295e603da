import { expect, it } from "vitest";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { compiled } from "../dsl-compiler/project.js";
import { localEngine } from "../local/support/model.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment } from "./support/environment.js";

const db = await useDatabase();

// The specification accepts any text of up to 256 characters as an event's name, including members of every JavaScript object.
const NAMES = ["constructor", "__proto__", "prototype", "hasOwnProperty"];
const AT = "2026-01-02T00:00:00.000Z";

const each = (text: (quoted: string, i: number) => string) => NAMES.map((name, i) => text(JSON.stringify(name), i));
const fields = (name: string, value: string) => JSON.parse(`{"${name}": "${value}"}`) as object;
const payload = (value: string) => JSON.parse(`{${each((name) => `${name}: "${value}"`).join()}}`) as object;

it("members of every object can name events, properties and traits in the language, the service and svc dev", async () => {
  const result = await compiled(`
    import { all, defineModel, event, segment, string, traits } from "svc-success";
    ${each((name, i) => `const named${i} = event(${name}, { [${name}]: string() });`).join("\n")}
    const customer = traits({ ${each((name) => `[${name}]: string()`).join()} });
    export default defineModel({
      strictSchema: true,
      events: [${each((_, i) => `named${i}`).join()}],
      traits: customer,
      segments: [${each(
        (name, i) => `
          segment("filtered_${i}", {
            when: named${i}.where((p) => p[${name}].is("web")).count().atLeast(2).within("30d")
          }),
          segment("latest_${i}", { when: named${i}.latest(${name}).is("web") }),
          segment("various_${i}", { when: named${i}.distinct(${name}).atLeast(2) }),
          segment("known_${i}", { when: all(customer[${name}].is("pro"), customer[${name}].exists()) }),`,
      ).join("")}
      ],
    });`);
  expect(result).toMatchObject({ ok: true, warnings: [] });
  const { snapshot } = result as { snapshot: Snapshot };
  const customerId = "c1";
  const operations = [
    { type: "identify", customerId, traits: payload("pro") },
    ...["web", "shop", "web"].flatMap((value) =>
      NAMES.map((event) => ({ customerId, event, properties: fields(event, value) })),
    ),
  ];
  const environment = await TestEnvironment.create(db.sql, snapshot);
  await environment.take(
    { at: AT },
    operations.map((operation) => ({ at: AT, ...operation })),
  );
  const document = await environment.document();
  expect(document.segments).toEqual(
    NAMES.flatMap((_, i) => ["filtered", "known", "latest", "various"].map((kind) => `${kind}_${i}`)).sort(),
  );
  expect(Object.entries(document.traits).sort()).toEqual(NAMES.map((name) => [name, "pro"]).sort());

  const { engine, clock } = localEngine(snapshot);
  clock.moveTo(Date.parse(AT));
  engine.accept(operations as never, "batch");
  expect(engine.document(customerId)).toMatchObject({ segments: document.segments, traits: document.traits });
});

it("an undeclared member of every object is refused like any other name", async () => {
  const environment = await TestEnvironment.create(db.sql);
  await environment.deploy({ ...EMPTY_SNAPSHOT, strictSchema: true });
  for (const name of NAMES) {
    const refused = (operation: object) => expect(environment.send([{ at: AT, ...operation }]), name).rejects;
    await refused({ event: name }).toThrow("UNKNOWN_EVENT");
    await refused({ event: "login", properties: fields(name, "web") }).toThrow("UNKNOWN_PROPERTY");
    await refused({ traits: fields(name, "pro") }).toThrow("UNKNOWN_TRAIT");
  }
});
