/** The style of the console: the colours of the report, light and dark. */
export const CONSOLE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfbf9; --card: #ffffff; --ink: #16202a; --soft: #55626f; --line: #dfe3e6;
  --accent: #0b6a75; --on-accent: #ffffff; --wash: #e8f3f4; --alarm: #a8321f; --alarm-wash: #fbece8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11171c; --card: #182027; --ink: #e7edf1; --soft: #9fadb8; --line: #2b3741;
    --accent: #55bfc9; --on-accent: #0b1a1c; --wash: #17292d; --alarm: #ff9b87; --alarm-wash: #351f1b;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 80rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1, h2, h3, p, dl, dd, ul { margin: 0; padding: 0; }
h1 { font-size: 1.8rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; }
h2 { font-size: 1.1rem; font-weight: 650; margin-bottom: 0.75rem; }
h3 { font-size: 0.95rem; font-weight: 650; overflow-wrap: anywhere; }
.lead { color: var(--soft); max-width: 46rem; margin: 0.5rem 0 0.75rem; }
#said { position: sticky; top: 0; z-index: 1; min-height: 2.2rem; padding: 0.35rem 0.75rem; margin: 0.75rem 0; overflow-wrap: anywhere; background: var(--paper); }
#said.good { background: var(--wash); color: var(--ink); }
#said.bad { background: var(--alarm-wash); color: var(--alarm); }
.columns { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.25rem; align-items: start; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 1.1rem 1.25rem; }
.wide { grid-column: 1 / -1; }
.state { color: var(--accent); border: 1px solid currentColor; border-radius: 1rem; padding: 0 0.6rem; font-size: 0.85rem; font-weight: 600; overflow-wrap: anywhere; }
.state.bad { color: var(--alarm); }
code { font: 0.88em/1.4 ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.values { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1.5rem; margin: 1rem 0; }
.values > div { display: grid; grid-template-columns: 9rem minmax(0, 1fr) auto; gap: 0.5rem; align-items: center; border-top: 1px solid var(--line); padding: 0.3rem 0; }
dt, .empty, label { color: var(--soft); }
.scroll { overflow: auto; max-height: 24rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
th { font-weight: 600; }
thead th { color: var(--soft); font-weight: 500; white-space: nowrap; }
.scroll .state, .address { white-space: nowrap; }
.long, td code:not(.address) { display: block; min-width: 11rem; overflow-wrap: anywhere; }
.stack { display: grid; gap: 1.25rem; }
.note { background: var(--wash); padding: 0.5rem 0.75rem; border-radius: 0.35rem; }
.note.warn { background: var(--alarm-wash); color: var(--alarm); }
.cards { list-style: none; display: grid; gap: 0.75rem; margin-top: 0.75rem; }
.cards li { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.75rem; display: grid; gap: 0.4rem; }
.row { display: flex; flex-wrap: wrap; gap: 0.5rem; }
section > form { margin-top: 1rem; display: grid; gap: 0.6rem; justify-items: start; }
section > form > p { width: 100%; }
label { display: block; }
.check { display: flex; gap: 0.5rem; align-items: center; }
input:not([type=checkbox]), textarea, select { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 0.35rem; padding: 0.35rem 0.5rem; width: 100%; }
textarea { font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; resize: vertical; }
button { font: inherit; font-weight: 600; cursor: pointer; border-radius: 0.35rem; padding: 0.3rem 0.8rem; background: var(--accent); color: var(--on-accent); border: 1px solid var(--accent); }
button.plain { background: transparent; color: var(--accent); border-color: currentColor; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 60rem) {
  main { padding: 1.25rem 0.75rem 3rem; }
  .columns, .values, .stack { grid-template-columns: minmax(0, 1fr); }
  .values > div { grid-template-columns: minmax(0, 1fr) auto; }
  .values dd { grid-row: 2; }
  .values button { grid-row: 1 / span 2; grid-column: 2; }
}
`
