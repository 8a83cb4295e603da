import { describe, expect, it } from "vitest";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { compiled } from "../dsl-compiler/project.js";
import { localEngine } from "../local/support/model.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment } from "./support/environment.js";

const db = await useDatabase();

// The specification accepts any text of up to 256 characters as an event's name, including members of every JavaScript object.
describe.each(["constructor", "__proto__", "prototype", "hasOwnProperty"])("the name %s", (name) => {
  const quoted = JSON.stringify(name);
  const authored = async () => {
    const result = await compiled(`
        import { all, defineModel, event, segment, string, traits } from "svc-success";
        const named = event(${quoted}, { [${quoted}]: string() });
        const customer = traits({ [${quoted}]: string() });
        export default defineModel({
          strictSchema: true,
          events: [named],
          traits: customer,
          segments: [
            segment("filtered", { when: named.where((p) => p[${quoted}].is("web")).count().atLeast(2).within("30d") }),
            segment("latest", { when: named.latest(${quoted}).is("web") }),
            segment("various", { when: named.distinct(${quoted}).atLeast(2) }),
            segment("known", { when: all(customer[${quoted}].is("pro"), customer[${quoted}].exists()) }),
          ],
        });`);
    expect(result).toMatchObject({ ok: true, warnings: [] });
    return (result as { snapshot: Snapshot }).snapshot;
  };
  const fields = (value: unknown) => JSON.parse(`{${quoted}: ${JSON.stringify(value)}}`) as object;
  const at = "2026-01-02T00:00:00.000Z";

  it("works for an event, a property and a trait in the language, the service and svc dev", async () => {
    const snapshot = await authored();
    const environment = await TestEnvironment.create(db.sql, snapshot);
    await environment.take({ at }, [
      { at, event: name, properties: fields("web") },
      { at, traits: fields("pro") },
      { at, event: name, properties: fields("shop") },
      { at, event: name, properties: fields("web") },
    ]);
    const document = await environment.document();
    expect(document.segments).toEqual(["filtered", "known", "latest", "various"]);
    expect(Object.entries(document.traits)).toEqual([[name, "pro"]]);

    const { engine, clock } = localEngine(snapshot);
    clock.moveTo(Date.parse(at));
    engine.accept(
      [
        { customerId: "c1", event: name, properties: fields("web") },
        { type: "identify", customerId: "c1", traits: fields("pro") },
        { customerId: "c1", event: name, properties: fields("shop") },
        { customerId: "c1", event: name, properties: fields("web") },
      ] as never,
      "batch",
    );
    expect(engine.document("c1")).toMatchObject({ segments: document.segments, traits: document.traits });
  });

  it("is refused like any other if it is not declared", async () => {
    const environment = await TestEnvironment.create(db.sql);
    await environment.deploy({ ...EMPTY_SNAPSHOT, strictSchema: true });
    await expect(environment.send([{ at, event: name }])).rejects.toThrow("UNKNOWN_EVENT");
    await expect(environment.send([{ at, event: "login", properties: fields("web") }])).rejects.toThrow(
      "UNKNOWN_PROPERTY",
    );
    await expect(environment.send([{ at, traits: fields("pro") }])).rejects.toThrow("UNKNOWN_TRAIT");
  });
});
