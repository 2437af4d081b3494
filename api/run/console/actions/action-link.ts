import { type Html, html } from "#api/serve/html/html.ts";
import { pageLink } from "#api/serve/site/parts/links.ts";

/** A way to the page that asks for a confirmation. */
export function actionLink(text: string, action: string, target = ""): Html {
  const label = `${text} ${target}`.trim();
  return html`<a class="button" href="${pageLink("/actions/new", { action, target })}" aria-label="${label}">${text}</a>`;
}
