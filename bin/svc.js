#!/usr/bin/env node
import { built } from "./built.js";

await import(built("cli/main.js"));
