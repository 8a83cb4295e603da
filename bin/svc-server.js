#!/usr/bin/env node
import { built } from "./built.js";

const { main } = await import(built("server/main.js"));
process.exitCode = await main(process.argv.slice(2));
