/** docs/options.md: every option, as flag, variable and key of the file. */

export function optionsPage(views) {
  const options = views.filter(({ flag }) => flag !== undefined)
  const environmentOnly = views.filter(({ flag }) => flag === undefined)
  const groups = [...new Set(options.map(view => view.group))]
  return [
    '<!-- Made by `npm run docs` from src/options/sections. Edit those. -->',
    '# Options',
    '',
    'An option can stand in four places. The first that sets it counts: flag, environment, `sluice.config.json` in the working',
    'folder, default. `sluice config` shows what is in force, and where it came from.',
    '',
    '- In the environment every option is `SLUICE_…`: `--batch-bytes` is `SLUICE_BATCH_BYTES`. Some have other names as well,',
    '  which count after it, in the order given below. An empty variable counts as unset.',
    '- In `sluice.config.json` every option is a key: `--batch-bytes` is `batchBytes`. An unknown key is an error.',
    '- Switches are set by their flag alone, elsewhere by `true` or `false`.',
    '- Sizes are bytes, or have a unit: `5mb`, `512kb`, `16mib`, `5_000_000`. Durations have one: `500ms`, `30s`, `15m`, `2h`.',
    '- Keep secrets in the environment, or in a file of their own (`--api-key-file`, `--password-file`, `--proxy-file`).',
    '  On the command line or in `sluice.config.json` they work, with a warning.',
    '',
    'All options but those of the doctor, of the webhook receiver and of filter administration, and the one with a **p**, which is for `sluice pull` alone, belong to `sluice ingest`. The ones with a **d** belong to `sluice doctor`,',
    'the ones with an **s** to `sluice serve`, the ones with a **v** to `sluice verify` and `sluice undo`, and `sluice config` takes all. `sluice filter` takes those of filter',
    'administration, of the cluster and of the path to it, and `--no-direct-check`.',
    ...groups.flatMap(group => [
      '',
      `## ${group}`,
      '',
      '| Option | | Default | What it does | Other variables |',
      '| --- | --- | --- | --- | --- |',
      ...options.filter(view => view.group === group).map(row),
    ]),
    '',
    '## From the environment alone',
    '',
    '| Variable | What it does |',
    '| --- | --- |',
    ...environmentOnly.map(({ env, doc }) => `| ${env.map(code).join(', ')} | ${cell(doc)} |`),
    '',
    '`NO_PROXY` applies to `HTTPS_PROXY` alone. If it covers the cluster while a static proxy is set, Sluice stops with',
    '`PROXY_NOT_USED`: a proxy that was asked for is never left out silently.',
    '',
  ].join('\n')
}

function row({ flag, label, default: preset, doc, env, commands }) {
  const isExplained = ['ingest', 'filter', 'doctor', 'serve', 'pull'].some(command => commands.includes(command))
  if (!isExplained) throw new Error(`${flag} is not an option of ingest, filter, doctor, serve or pull: the page says that all are`)
  const cells = [
    code(label === undefined ? flag : `${flag} <${label}>`),
    Object.entries({ doctor: '**d**', serve: '**s**', verify: '**v**' })
      .flatMap(([command, mark]) => (commands.includes(command) ? [mark] : []))
      .concat(commands.includes('pull') && !commands.includes('ingest') ? ['**p**'] : [])
      .join(' '),
    preset === undefined ? '' : code(preset),
    doc,
    env.slice(1).map(code).join(', '),
  ]
  return `| ${cells.map(cell).join(' | ')} |`
}

function code(text) {
  return `\`${text}\``
}

function cell(text) {
  return text.replaceAll('|', '\\|')
}
