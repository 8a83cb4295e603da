#!/usr/bin/env node
import v8 from "node:v8";
import { built } from "./built.js";

// Most commands end before optimized code has paid for its compilation, which was a quarter of the processor time of `svc validate`. What
// runs for long, as `svc dev` does, is optimized all the same, a moment later. Newer versions of Node.js know it by themselves.
if (process.versions.node.startsWith("20.")) v8.setFlagsFromString("--interrupt-budget=1000000");

await import(built("cli/main.js"));
