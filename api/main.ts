import process from "node:process";
import { run } from "./run/supervisor/command-line.ts";

process.exit(await run(process.argv.slice(2)));
