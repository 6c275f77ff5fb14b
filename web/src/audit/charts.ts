/** Figures over time as drawn lines, each with a table that says the same. Loaded when somebody looks at them. */

import { html, LitElement, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import uPlot from 'uplot';
import plotted from 'uplot/dist/uPlot.min.css?inline';

import { define } from '../components/define';
import { sheets } from '../components/sheets';
import { dayText, type Locale } from '../i18n';
import { chartsOf, rowsOf, type Chart, type Drawn, type Figures } from './figures';
import { optionsOf, type Ink } from './plotting';
import { seriesText, valueText } from './said';
import sheet from './styles/charts.css?inline';
import shared from './styles/shared.css?inline';
import { auditWords, type AuditWords } from './words';

export class AssistantAuditCharts extends LitElement {
  static override properties: PropertyDeclarations = {
    figures: { attribute: false },
    locale: {},
    pointed: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(plotted), unsafeCSS(shared), unsafeCSS(sheet)];
  declare figures: Figures;
  declare locale: Locale;
  /** The day under the pointer, by its number. */
  declare pointed: number | null;
  private drawn!: Drawn;
  private plots: uPlot[] = [];
  private readonly sized = new ResizeObserver(() => this.fit());
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');
  private readonly redraw = (): void => this.draw();

  constructor() {
    super();
    this.pointed = null;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.dark.addEventListener('change', this.redraw);
    this.sized.observe(this);
    if (this.hasUpdated) this.draw();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.dark.removeEventListener('change', this.redraw);
    this.sized.disconnect();
    this.clear();
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('figures')) this.drawn = chartsOf(this.figures);
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has('figures') || changed.has('locale')) this.draw();
  }

  override render(): TemplateResult {
    const { w, drawn } = this;
    if (!drawn.charts.length) return html`<p class="muted">${w.figuresNone}</p>`;
    return html`<div class="charts">${drawn.charts.map((chart) => this.chart(chart))}</div>`;
  }

  private get w(): AuditWords {
    return auditWords(this.locale);
  }

  private chart(chart: Chart): TemplateResult {
    const { w, drawn } = this;
    return html`<figure data-chart=${chart.name}>
      <figcaption>${w.charts[chart.name]}</figcaption>
      <ul class="legend" aria-hidden="true">
        ${chart.series.map(
          ({ name, values }, i) => html`<li class="line-${i}">
            <svg viewBox="0 0 24 4"><path d="M0 2h24" /></svg>${seriesText(this.locale, name)} ${this.pointedValue(values)}
          </li>`,
        )}
      </ul>
      <div class="plot" dir="ltr" aria-hidden="true"></div>
      ${chart.name === 'cost' ? html`<p class="muted">${w.priced(drawn.priced, drawn.answers)}</p>` : nothing}
      <details>
        <summary>${w.asTable}<span class="heard">: ${w.charts[chart.name]}</span></summary>
        ${this.table(chart)}
      </details>
    </figure>`;
  }

  /** What a line says on the day under the pointer, else in all. */
  private pointedValue(values: readonly number[]): TemplateResult {
    const { pointed, locale, drawn } = this;
    if (pointed === null) return html`<b>${valueText(locale, values.reduce((sum, value) => sum + value, 0))}</b>`;
    return html`<b>${valueText(locale, values[pointed] ?? 0)}</b> (${dayText(locale, drawn.days[pointed] ?? '')})`;
  }

  private table(chart: Chart): TemplateResult {
    const { w, locale, drawn } = this;
    return html`<div class="wide" tabindex="0" role="region" aria-label=${w.charts[chart.name]}>
      <table>
        <thead>
          <tr>
            <th scope="col">${w.day}</th>
            ${chart.series.map(({ name }) => html`<th scope="col">${seriesText(locale, name)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rowsOf(drawn.days, chart).map(
            ({ day, values }) => html`<tr>
              <th scope="row">${dayText(locale, day)}</th>
              ${values.map((value) => html`<td class="n">${valueText(locale, value)}</td>`)}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }

  private draw(): void {
    this.clear();
    for (const figure of this.renderRoot.querySelectorAll<HTMLElement>('figure')) {
      const chart = this.drawn.charts.find(({ name }) => name === figure.dataset['chart']);
      const place = figure.querySelector<HTMLElement>('.plot');
      if (chart && place) this.plots.push(this.plot(chart, figure, place));
    }
  }

  private plot(chart: Chart, figure: HTMLElement, place: HTMLElement): uPlot {
    const { days } = this.drawn;
    const lines = [...figure.querySelectorAll('.legend li')].map((item) => getComputedStyle(item).color);
    const { color, fontFamily } = getComputedStyle(place);
    const grid = getComputedStyle(figure.querySelector('.legend')!).borderBlockEndColor;
    const ink: Ink = { lines, axis: color, grid, font: `12px ${fontFamily}` };
    const point = (day: number | null): void => void (this.pointed = day);
    const options = optionsOf(chart, days, ink, place.clientWidth || 320, (day) => dayText(this.locale, day), point);
    return new uPlot(options, [days.map((_, i) => i), ...chart.series.map(({ values }) => values)], place);
  }

  private fit(): void {
    for (const plot of this.plots) {
      const width = plot.root.parentElement?.clientWidth ?? 0;
      if (width && width !== plot.width) plot.setSize({ width, height: plot.height });
    }
  }

  private clear(): void {
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
  }
}

define('assistant-audit-charts', AssistantAuditCharts);
