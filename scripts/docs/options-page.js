/** Writes docs/options.md: every option as flag, variable and key of the file. */

export function optionsPage(all) {
  const options = all.filter(({ flag, replaced }) => flag !== undefined && replaced === undefined)
  const old = all.filter(({ replaced }) => replaced !== undefined)
  const environmentOnly = all.filter(({ flag }) => flag === undefined)
  const groups = [...new Set(options.map(option => option.group))]
  return [
    '<!-- Made by `npm run docs` from src/options/table.ts. Edit that. -->',
    '# Options',
    '',
    'Sluice looks for an option in four places, in this order: flag, environment, `sluice.config.json` in the working folder, default.',
    'The first value counts. `sluice config` shows each value and its source.',
    '',
    '- In the environment the name is `SLUICE_…`: `SLUICE_BATCH_BYTES` sets `--batch-bytes`. Some options have other variables too.',
    '  Sluice uses these only if `SLUICE_…` is not set, in the order below. An empty variable counts as unset, but an empty `STATIC_PROXY_URL` is an error unless another proxy or `--direct` is set.',
    '- In `sluice.config.json` the name is a key, the same as in the library: `batchBytes` sets `--batch-bytes`, `timeoutMs` sets `--timeout`.',
    '  A number under a key that ends in `Ms` counts milliseconds. Keys like `timeout` work too. An unknown key is an error.',
    '- The folder with `sluice.config.json` may belong to somebody else. So Sluice sends no credentials of the environment to a URL that only this file names. To allow',
    '  that, pass `--config sluice.config.json`, or set `SLUICE_CONFIG`. The same rule applies to a file that sets both a proxy and a trusted CA (`ca`, `servicenowCa`).',
    '  Without `--config`, output files that the file names must be inside its folder. Files with credentials for its own URLs must be there too.',
    '- For an editor that completes and checks the file, add `"$schema": "./node_modules/sluice/schema/sluice.config.schema.json"` to it.',
    '- A switch needs no value on the command line. In the environment and the file, use `true` or `false`.',
    '- A size is a number of bytes, or has a unit: `5mb`, `512kb`, `16mib`, `5_000_000`. A duration needs a unit: `500ms`, `30s`, `15m`, `2h`.',
    '- Keep secrets in the environment, or in separate files (`--api-key-file`, `--password-file`, `--proxy-file`). On the command line',
    '  and in `sluice.config.json` they work, with a warning.',
    '',
    '`sluice ingest` takes all options, except those of the doctor, the webhook receiver, tunnels, filter administration and `sluice worker` (`--only-inputs`, `--only-index`, `--letters-folder`). The letters show which',
    'other commands take an option: **d** `sluice doctor`, **s** `sluice serve`, **v** `sluice verify` and `sluice undo`, **t** `sluice tunnel` and `sluice run`, **w** `sluice worker`, **j** `sluice jobs`, **p** only `sluice pull`, **i** only `sluice infer`.',
    '`sluice filter` takes the options of filter administration, of the cluster and of the route to it, and `--no-direct-check`. `sluice config` takes all.',
    ...groups.flatMap(group => [
      '',
      `## ${group}`,
      '',
      '| Option | | Default | What it does | Other variables |',
      '| --- | --- | --- | --- | --- |',
      ...options.filter(option => option.group === group).map(row),
    ]),
    '',
    '## Old spellings',
    '',
    'They work until the next major version, with a note that names the new spelling. Runs, jobs and results stay the same.',
    '',
    '| Old | New |',
    '| --- | --- |',
    ...old.map(({ flag, replaced: { by, as, own } }) => {
      const { flag: now } = all.find(({ name }) => name === by)
      return `| ${code(as === undefined ? flag : `${flag} VALUE`)} | ${cell(as === undefined ? `not needed: ${code(now)} finds it` : code(`${now} ${as.replace('OWN', own)}`))} |`
    }),
    '',
    '## Only in the environment',
    '',
    '| Variable | What it does |',
    '| --- | --- |',
    ...environmentOnly.map(({ env, doc }) => `| ${env.map(code).join(', ')} | ${cell(doc)} |`),
    '',
    '`NO_PROXY` switches off only `HTTPS_PROXY`, never a static proxy. If it covers the cluster although a static proxy is set, Sluice stops with `PROXY_NOT_USED`.',
    '',
  ].join('\n')
}

function row({ flag, label, default: preset, doc, env, commands }) {
  const isExplained = ['ingest', 'filter', 'doctor', 'serve', 'pull', 'infer', 'tunnel', 'worker'].some(command => commands.includes(command))
  if (!isExplained) throw new Error(`${flag} is an option of no command that the page names`)
  const cells = [
    code(label === undefined ? flag : `${flag} <${label}>`),
    Object.entries({ doctor: '**d**', serve: '**s**', verify: '**v**', tunnel: '**t**', worker: '**w**', jobs: '**j**' })
      .flatMap(([command, mark]) => (commands.includes(command) ? [mark] : []))
      .concat(commands.includes('pull') && !commands.includes('ingest') ? ['**p**'] : [])
      .concat(commands.includes('infer') && !commands.includes('ingest') ? ['**i**'] : [])
      .join(' '),
    label === undefined || preset === undefined ? '' : code(preset),
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
