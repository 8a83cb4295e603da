// A process that uses an embedded server: prints its address, leaves when its stdin ends.
import { startEmbedded } from "../../src/db/embedded/embedded.js";

const directory = process.argv[2];
if (directory === undefined) throw new Error("usage: embedded-user <data directory>");
const server = await startEmbedded(directory, { sync: false, settings: { shared_buffers: "16MB" } });
console.log(server.url);
process.stdin.resume();
process.stdin.once("end", () => void server.stop());
