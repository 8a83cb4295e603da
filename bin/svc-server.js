#!/usr/bin/env node
import { built } from "./built.js";

const { logCrashes, main, outliveReaders } = await import(built("server/main.js"));
logCrashes();
outliveReaders();
process.exitCode = await main(process.argv.slice(2));
