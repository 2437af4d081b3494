import type { PageHandler } from "./page/visit.ts";
import { callersPage } from "./pages/callers.ts";
import { chainsPage } from "./pages/chains.ts";
import { databasePage } from "./pages/database.ts";
import { factPage } from "./pages/fact.ts";
import { logPage } from "./pages/log.ts";
import { overviewPage } from "./pages/overview.ts";
import { projectionsPage } from "./pages/projections.ts";
import { rowPage } from "./pages/row.ts";
import { upstreamPage } from "./pages/upstream.ts";
import { workPage } from "./pages/work.ts";

/** The console's pages; `/actions` and its forms are in `actions/mount-actions.ts`. */
export const pages: readonly (readonly [path: string, handler: PageHandler])[] = [
  ["/", overviewPage],
  ["/chains", chainsPage],
  ["/log", logPage],
  ["/log/row", rowPage],
  ["/log/{position}", factPage],
  ["/projections", projectionsPage],
  ["/work", workPage],
  ["/upstream", upstreamPage],
  ["/callers", callersPage],
  ["/database", databasePage],
];
