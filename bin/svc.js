#!/usr/bin/env node
import v8 from "node:v8";
import { built } from "./built.js";

// Most commands end before optimized code pays for its compilation, which took a quarter of the CPU time of `svc validate`. Long runs,
// such as `svc dev`, are still optimized, a moment later. Node.js versions newer than 20 do not need this.
if (process.versions.node.startsWith("20.")) v8.setFlagsFromString("--interrupt-budget=1000000");

await import(built("cli/main.js"));
