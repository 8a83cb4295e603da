import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect as dial, createServer, type AddressInfo, type Socket } from "node:net";
import { afterAll, expect, inject, it, vi } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { ingestBatch } from "../../../src/db/api/ingestion.js";
import { connect } from "../../../src/db/connect.js";
import { installPack } from "../../../src/db/migrate/packs.js";
import { codeOf, isTransient, isUnavailable } from "../../../src/db/sqlstate.js";
import { createClusterDatabase, onEachNode, withDatabase } from "../../support/citus.js";
import { violations } from "../../support/invariants.js";
import { isCluster } from "../../support/is-cluster.js";
import { migrateUnreleased } from "../../support/migrate.js";
import { TestEnvironment } from "../../tasks/support/environment.js";

// A connection loss between coordinator and node just between their two commits. Run with TEST_DATABASE_URL naming the
// coordinator of a Citus cluster.

const { url: server, nodes, prefix } = inject("database");

/** A proxy to a node. Once armed, it forwards the next COMMIT, and drops the answers of that connection. */
class Way {
  armed = false;
  readonly #held = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));

  private constructor(private readonly node: URL) {}

  static async open(node: string): Promise<Way> {
    const way = new Way(new URL(node));
    way.#server.listen(0, "127.0.0.1");
    await once(way.#server, "listening");
    return way;
  }

  /** The node's URL through the proxy. */
  get url(): string {
    const port = String((this.#server.address() as AddressInfo).port);
    return Object.assign(new URL(this.node), { hostname: "127.0.0.1", port }).href;
  }

  cut(): void {
    for (const client of this.#held) client.destroy();
  }

  close(): void {
    this.#server.close();
  }

  #join(client: Socket): void {
    const node = dial(Number(this.node.port), this.node.hostname);
    for (const [one, other] of [
      [client, node],
      [node, client],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
    }
    client.on("data", (bytes: Buffer) => {
      // A whole statement, not the isolation level at the start of a transaction.
      if (this.armed && bytes.includes("COMMIT\0")) {
        this.armed = false;
        this.#held.add(client);
      }
      node.write(bytes);
    });
    node.on("data", (bytes: Buffer) => {
      if (!this.#held.has(client)) client.write(bytes);
    });
  }
}

it.skipIf(!isCluster)(
  "a call that a node has committed and the coordinator has not is answered when repeated, and counted by the next scan",
  async () => {
    const name = `${prefix}${randomBytes(6).toString("hex")}`;
    const ways = await Promise.all(nodes.slice(1).map((node) => Way.open(node)));
    await createClusterDatabase([nodes[0]!, ...ways.map((way) => way.url)], name);
    const url = withDatabase(server, name);
    await migrateUnreleased(url);
    await installPack(url, "citus");
    const sql = connect(url, { max: 4, applicationName: "svc test" });
    afterAll(async () => {
      await sql.end({ timeout: 0 });
      await onEachNode(nodes, `drop database ${name} with (force)`);
      for (const way of ways) way.close();
    });
    const environment = await TestEnvironment.create(sql);
    const { environmentId, keyHash } = environment;
    await environment.send([{ at: new Date().toISOString(), event: "login", key: "before" }]);
    const batches = async () =>
      (await sql`select from svc.ingest_batches where environment_id = ${environmentId}`).length;
    expect([await batches(), await violations(sql)]).toEqual([1, []]);

    const batchId = randomUUID();
    const body = JSON.stringify({
      events: [{ type: "track", customerId: "ann", event: "login", idempotencyKey: "between" }],
    });
    for (const way of ways) way.armed = true;
    const calling = ingestBatch(sql, { keyHash, batchId, repeated: false }, body).then(
      () => null,
      (error: unknown) => error,
    );
    await vi.waitUntil(async () => (await batches()) === 2, { timeout: 20_000 });
    for (const way of ways) {
      way.armed = false;
      way.cut();
    }
    const error = await calling;
    expect([codeOf(error), isTransient(error), isUnavailable(error)]).toEqual(["08006", true, true]);
    expect(await violations(sql)).toEqual([
      expect.stringMatching(/^usage_is_what_was_stored .*the keys count 1 events; 2 were stored$/),
    ]);

    await ingestBatch(sql, { keyHash, batchId, repeated: true }, body);
    expect(await batches()).toBe(2);
    await call(sql, "recount_usage", environmentId, 1_000);
    expect(await violations(sql)).toEqual([]);
    await call(sql, "recount_usage", environmentId, 1_000);
    expect(await violations(sql)).toEqual([]);
  },
);
