import { html } from "#api/pages/kit/html.ts";
import { details } from "#api/pages/kit/panel.ts";
import { type PageContent, unknown, type Visit } from "../page/visit.ts";
import { findAction } from "./known-actions.ts";

/** Says what an action does, and asks who starts it and why. */
export function confirmPage(
  visit: Visit,
  issue: (action: string, target: string) => string,
): PageContent {
  const [name, target] = [visit.parameter("action"), visit.parameter("target")];
  const action = findAction(visit, name, target);
  if (action === null) {
    return unknown(
      "No such action",
      html`<section class="refused"><h1>There is no such action</h1><p><a href="/actions">Actions</a></p></section>`,
    );
  }
  const { title, effect, command, run } = action;
  const commandLine = `npm run op -- ${command.join(" ")}`;
  const body = html`<h1>${title}?</h1>
<p>${effect}</p>
${details([["The same in a terminal", html`<code>${commandLine}</code>`]])}
${
  run === null
    ? html`<p class="notice">This console was started without a supervisor, which runs such commands: type it in a terminal.</p>`
    : html`<form class="confirm" method="post" action="/actions">
<input type="hidden" name="action" value="${name}">
<input type="hidden" name="target" value="${target}">
<input type="hidden" name="confirmation" value="${issue(name, target)}">
${
  visit.operator === null
    ? html`<div class="field"><label for="by">Your name</label><input id="by" type="text" name="by" required maxlength="60" autocomplete="username"></div>`
    : html`<p>You are ${visit.operator}.</p>`
}
<div class="field"><label for="reason">Reason</label><input id="reason" type="text" name="reason" required maxlength="300" autocomplete="off"></div>
<p>Name, reason and outcome become facts of the log.</p>
<p><button class="primary">${title}</button> <a class="button" href="/actions">Leave it</a></p>
</form>`
}`;
  return { title: `${title}?`, body, isLive: false };
}
