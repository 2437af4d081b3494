import { type Html, html } from "#api/pages/kit/html.ts";
import { formatCount, moment } from "#api/pages/kit/number.ts";
import { figures, panel } from "#api/pages/kit/panel.ts";
import type { Finding } from "../reports/find-server-problems.ts";
import { readServiceProgress, type ServiceProgress } from "../reports/read-status.ts";
import { actionLink, findAction } from "./known-actions.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";
import { readRate } from "./samples.ts";
import { chainTable, projectionTable } from "./tables.ts";

/** How everything is, at a glance: what `op status` and `op doctor` say. */
export async function overviewPage(visit: ConsoleVisit): Promise<ConsoleContent> {
  const { db, config, fetchHead, readProblems, now } = visit;
  const [progress, problems, rate] = await Promise.all([
    readServiceProgress(db, config, fetchHead),
    readProblems(),
    readRate(db, now()),
  ]);
  const time = now();
  const { findings, at } = problems;
  const faults = findings.filter(({ isFault }) => isFault);
  const body = [
    html`<h1>Overview</h1>`,
    figures([
      {
        label: "Facts in the log",
        value: html`<data id="log-head" value="${progress.logHead}">${formatCount(progress.logHead)}</data>`,
      },
      {
        label: "Facts per second",
        value: rate === null ? "not known yet" : rate.perSecond.toFixed(1),
        note: html`of the last minutes`,
      },
      {
        label: "Faults",
        value: html`<data id="faults" value="${faults.length}">${faults.length}</data>`,
      },
      { label: "Notes", value: `${findings.length - faults.length}` },
      {
        label: "Paused",
        value: progress.paused.length === 0 ? "nothing" : progress.paused.join(", "),
      },
    ]),
    problemsPanel(visit, findings, progress, html`as of ${moment(at.toISOString(), time)}`),
    panel({
      id: "chains-panel",
      title: html`<a href="/chains">Chains</a>`,
      body: chainTable(progress.chains),
    }),
    panel({
      id: "projections-panel",
      title: html`<a href="/projections">Projections</a>`,
      body: projectionTable(progress.projections, time),
    }),
  ];
  return { title: "Overview", body };
}

type FindingGroup = Omit<Finding, "about"> & { abouts: string[] };

/** What was found of several is one problem. */
function grouped(findings: readonly Finding[]): FindingGroup[] {
  const groups = new Map<string, FindingGroup>();
  for (const { about, ...finding } of findings) {
    const key = JSON.stringify(finding);
    const group = groups.get(key) ?? { ...finding, abouts: [] };
    group.abouts.push(about);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** The way to start what an advice names, where it is one of the console's actions. */
function startOf(visit: ConsoleVisit, advice: string): Html | false {
  const [, name, target = ""] = /\bop (rebuild|prune)\b(?: (\w+)(?:,|$))?/.exec(advice) ?? [];
  if (name === undefined || findAction(visit, name, target) === null) return false;
  return html` ${actionLink("Start", name, target)}`;
}

/** Warnings, each with what to do. */
function problemsPanel(
  visit: ConsoleVisit,
  findings: readonly Finding[],
  { paused }: ServiceProgress,
  asOf: Html,
): Html {
  const items = [
    ...paused.map((name) =>
      problem(false, name, "is paused", html`<a href="/actions">Actions</a>: resume it`),
    ),
    ...grouped(findings).map(({ isFault, abouts, finding, advice }) =>
      problem(isFault, abouts.join(", "), finding, html`${advice}${startOf(visit, advice)}`),
    ),
  ];
  return panel({
    id: "problems",
    title: "What needs attention",
    aside: html`<span class="quiet">${asOf}</span>`,
    body:
      items.length === 0
        ? html`<p class="empty">Nothing: no problem was found.</p>`
        : html`<ul class="problems">${items}</ul>`,
  });
}

const problem = (isFault: boolean, about: string, finding: string, advice: Html): Html =>
  html`<li><span class="mark ${isFault ? "bad" : "wait"}">${isFault ? "fault" : "note"}</span> <b>${about}</b> ${finding}<br><span class="quiet">What to do: ${advice}</span></li>`;
