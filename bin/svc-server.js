#!/usr/bin/env node
import { built } from "./built.js";

const { logCrashes, main } = await import(built("server/main.js"));
logCrashes();
process.exitCode = await main(process.argv.slice(2));
