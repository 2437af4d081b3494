import { type CallOutcome, callFaults, type StoredCalls } from "#projections/log/outgoing-calls.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { moment, formatCount } from "#api/pages/kit/number.ts";
import { type Column, table } from "#api/pages/kit/panel.ts";
import { foreignText } from "#api/pages/kit/text.ts";

type Group = {
  names: readonly string[];
  calls: number;
  recent: number;
  faults: number;
  recentFaults: number;
  lastAt: Date;
  lastFault: { at: Date; message: string | null; outcome: CallOutcome } | null;
};

type CallTable = {
  caption: string;
  /** Heads of the columns by which calls are grouped, each with its value. */
  by: readonly (readonly [head: string, of: (one: StoredCalls) => string])[];
  calls: readonly StoredCalls[];
  now: Date;
  empty: string;
};

/** Calls by what they have in common, with those that failed and why the last one did. */
export function callTable({ caption, by, calls, now, empty }: CallTable): Html {
  const groups = groupCalls(
    calls,
    by.map(([, of]) => of),
  );
  const columns: Column<Group>[] = [
    ...by.map(([head], index) => ({
      head,
      cell: ({ names }: Group) => foreignText(names[index] ?? "", 80),
      isHead: index === by.length - 1,
    })),
    { head: "Calls", cell: ({ calls }) => formatCount(calls), isNumber: true },
    { head: "Failed", cell: ({ faults }) => formatCount(faults), isNumber: true },
    { head: "Last two hours", cell: ({ recent }) => formatCount(recent), isNumber: true },
    {
      head: "Of these failed",
      cell: ({ recentFaults }) =>
        recentFaults === 0 ? "0" : html`<span class="mark bad">${formatCount(recentFaults)}</span>`,
      isNumber: true,
    },
    { head: "Last", cell: ({ lastAt }) => moment(lastAt.toISOString(), now) },
    { head: "Last failure", cell: ({ lastFault }) => faultCell(lastFault, now) },
  ];
  return table(groups, columns, { caption, empty, isCaptionShown: true });
}

const faultCell = (fault: Group["lastFault"], now: Date): Html =>
  fault === null
    ? html`none`
    : html`${moment(fault.at.toISOString(), now)}: ${foreignText(fault.message ?? fault.outcome.replace("_", " "), 160)}`;

function groupCalls(
  calls: readonly StoredCalls[],
  by: readonly ((one: StoredCalls) => string)[],
): Group[] {
  const groups = new Map<string, Group>();
  for (const one of calls) {
    const names = by.map((of) => of(one));
    const group = groups.get(names.join("\n")) ?? emptyGroup(names);
    groups.set(names.join("\n"), group);
    addTo(group, one);
  }
  return [...groups.values()];
}

const emptyGroup = (names: readonly string[]): Group => ({
  names,
  calls: 0,
  recent: 0,
  faults: 0,
  recentFaults: 0,
  lastAt: new Date(0),
  lastFault: null,
});

function addTo(group: Group, one: StoredCalls): void {
  group.calls += one.calls;
  group.recent += one.recent;
  if (one.lastAt > group.lastAt) group.lastAt = one.lastAt;
  if (!callFaults.includes(one.outcome)) return;
  group.faults += one.calls;
  group.recentFaults += one.recent;
  if (group.lastFault === null || one.lastAt > group.lastFault.at) {
    group.lastFault = { at: one.lastAt, message: one.lastMessage, outcome: one.outcome };
  }
}
