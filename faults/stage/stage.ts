/** The environment of a run: a service in three processes on one database or cluster, and the relays between them. */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { migrate } from "../../src/db/migrate/migrate.js";
import { installPack } from "../../src/db/migrate/packs.js";
import { Receiver } from "../../src/demo/receiver.js";
import { Service, type ServiceOptions } from "../../src/demo/service/service.js";
import { Random } from "../../src/demo/simulate/random.js";
import { Clock } from "./clock.js";
import { CitusCluster, type Node } from "./citus-cluster.js";
import { SmallDisk } from "./disk.js";
import { endServer, openEmbeddedServer } from "./embedded-server.js";
import { inRunDirectory } from "./leftovers.js";
import { LossyProxy } from "./lossy-proxy.js";
import { Relay } from "./relay.js";
import type { Server } from "./server.js";

export interface Stage {
  /** The service in one process, with the embedded database unless there is a cluster. */
  service: Service;
  /** Separate processes, connected to the database over `network`. */
  http: Service;
  worker: Service;
  clocks: { http: Clock; worker: Clock };
  /** The embedded PostgreSQL, or the coordinator of the cluster. */
  server: Server;
  /** The other nodes of the cluster. */
  nodes: readonly Node[];
  network: Relay;
  /** In front of the service; loses some of the answers. */
  proxy: LossyProxy;
  receiver: Receiver;
  /** In front of the receiver. */
  receiverRelay: Relay;
  disk: SmallDisk | string;
  /** How processes ended that were not killed by the run. */
  ends: string[];
  /** Aborted when the run is stopped, or a process is lost for good. */
  signal: AbortSignal;
}

export interface StageOptions {
  seed: number;
  /** Data directories of a cluster, the coordinator's first; empty for the embedded PostgreSQL. */
  nodes: readonly string[];
  /** Size of the database's disk. */
  diskBytes: number;
  stop: AbortSignal;
}

/** Opens a stage for the work, and ends and removes everything in any case. */
export function onStage<T>(
  { seed, nodes: directories, diskBytes, stop }: StageOptions,
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  return inRunDirectory("faults", async (directory, opened) => {
    const mountPoint = path.join(directory, "disk");
    await mkdir(mountPoint, { mode: 0o711 });
    const isCluster = directories.length > 0;
    const disk = isCluster
      ? "the data directories of a cluster are not on a small disk"
      : await SmallDisk.mount(mountPoint, diskBytes);
    if (typeof disk !== "string") opened(disk, (it) => it.unmount());
    const dataDir = path.join(mountPoint, "data");
    // The service stops the server, unless it was killed and had not restarted when the run ended.
    opened(dataDir, endServer);
    const cluster = isCluster ? opened(await CitusCluster.open(directories, stop), (it) => it.close()) : null;
    const ownUrl = await cluster?.url();
    if (ownUrl !== undefined) {
      await migrate(ownUrl);
      await installPack(ownUrl, "citus");
    }

    const ends: string[] = [];
    const start = async (name: string, options: Partial<ServiceOptions>): Promise<Service> => {
      const service = await Service.start({
        dataDir,
        logFile: path.join(directory, `${name}.log`),
        onRestart: (how) => {
          if (how !== "SIGKILL") ends.push(`${name}: ${how}`);
          // A service that ends too often is given up; here it is killed on purpose.
          service.restarts = 0;
        },
        ...options,
      });
      return opened(service, (it) => it.stop());
    };
    const settings = {
      SVC_SECRET: randomBytes(32).toString("base64url"),
      // History counts as complete after this time without operations, and later events as late: long enough that no pause of a run matters.
      SVC_SETTLE_SECONDS: "3600",
    };
    const service = await start("service", {
      environment: () => ({ ...settings, ...(ownUrl === undefined ? {} : { DATABASE_URL: ownUrl }) }),
    });

    const lost = [service.lost];
    const network = opened(
      await Relay.start(async () => ({ host: "127.0.0.1", port: (await server.postmaster()).port })),
      (it) => it.stop(),
    );
    const server = cluster?.coordinator ?? (await openEmbeddedServer(dataDir, AbortSignal.any([stop, ...lost])));
    const startSeparately = (role: "http" | "worker", clock: Clock) =>
      start(role, {
        role,
        environment: () => ({ ...settings, ...clock.environment(), DATABASE_URL: server.url(network.port) }),
      });
    const clocks = { http: new Clock(), worker: new Clock() };
    const [http, worker] = [await startSeparately("http", clocks.http), await startSeparately("worker", clocks.worker)];
    lost.push(http.lost, worker.lost);

    const receiver = opened(await Receiver.start(), (it) => it.stop());
    const receiverAddress = { host: "127.0.0.1", port: Number(new URL(receiver.url).port) };
    const receiverRelay = opened(await Relay.start(() => Promise.resolve(receiverAddress)), (it) => it.stop());
    const proxy = opened(await LossyProxy.start(service.url, new Random(seed, "proxy")), (it) => it.stop());
    const signal = AbortSignal.any([stop, ...lost]);
    const stage = {
      service,
      http,
      worker,
      clocks,
      server,
      nodes: cluster?.nodes ?? [],
      network,
      proxy,
      receiver,
      receiverRelay,
      disk,
      ends,
      signal,
    };
    return work(stage);
  });
}
