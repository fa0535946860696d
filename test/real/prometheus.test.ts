/** A real Prometheus scrapes a receiver and a job's file, and reads the alerts and the dashboard of the examples. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.js'
import { sluiceHere } from '../support/command/in-process.js'
import { ask } from '../support/lab/lab-clients.js'
import { lines, post, start } from '../support/lab/serve-world.js'
import { index, lab, path, shareLab, work } from '../support/lab/shared-lab.js'
import { findParts, required } from './servers/parts.js'
import { onFreePorts } from './servers/ports.js'
import { type RunningProcess, startProcess, untilReady } from './servers/process.js'

const parts = findParts()
const examples = resolve('examples/prometheus')

interface Prometheus extends AsyncDisposable {
  query(expression: string): Promise<readonly { readonly metric: object; readonly value: readonly [number, string] }[]>
  alerts(): Promise<string[]>
}

async function startPrometheus(targets: Readonly<Record<string, string>>): Promise<Prometheus> {
  const folder = path('prometheus')
  await mkdir(folder)
  const jobs = Object.entries(targets).map(
    ([name, target]) => `
  - job_name: ${name}
    static_configs: [{ targets: ['${target}'] }]`,
  )
  const config = `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${examples}/alerts.yml']
scrape_configs:${jobs.join('')}
`
  await writeFile(join(folder, 'prometheus.yml'), config)
  return await onFreePorts(1, async ports => {
    const url = `http://127.0.0.1:${ports[0]}`
    const args = [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${ports[0]}`,
    ]
    const command = required(parts.prometheus, 'Prometheus')
    const server: RunningProcess = await startProcess({ command, args, folder })
    await untilReady('Prometheus', server, async () =>
      (await ask(`${url}/-/ready`)).status === 200 ? true : undefined,
    )
    const api = async <T>(of: string) => (JSON.parse((await ask(`${url}/api/v1/${of}`)).text) as { data: T }).data
    return {
      query: async expression =>
        (await api<{ result: never[] }>(`query?query=${encodeURIComponent(expression)}`)).result,
      alerts: async () =>
        (await api<{ alerts: { labels: { alertname: string } }[] }>('alerts')).alerts.map(one => one.labels.alertname),
      [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
    }
  })
}

/** Runs promtool. Resolves to its exit code and its output. */
async function promtool(args: readonly string[], input = ''): Promise<{ code: number; output: string }> {
  return await new Promise(done => {
    const child = execFile(required(parts.promtool, 'promtool'), args, { cwd: examples }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` }),
    )
    child.stdin?.end(input)
  })
}

describe.skipIf(parts.promtool === undefined && !process.env.CI)('Prometheus', () => {
  shareLab()

  test('the alerts of the examples are valid, and fire when they should', async () => {
    for (const args of [
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ]) {
      const { code, output } = await promtool(args)
      expect(code, output).toBe(0)
    }
  })

  test('scrapes a receiver and a file, without a word of promtool against them', async () => {
    await writeFile(path('a.ndjson'), `${lines(5)}not json\n`)
    const job = ['ingest', 'a.ndjson', '--index', index, '--preflight-connections', '1', '--job', 'nightly']
    const env = { ...lab.env, SLUICE_STATE_DIR: path('job-state') }
    const { code } = await sluiceHere([...job, '--metrics-textfile', 'nightly.prom'], { cwd: work, env })
    expect(code).toBe(1)
    // Takes the place of node_exporter, which passes such files on.
    const exporter = createServer((_, response) => void readFile(path('nightly.prom')).then(text => response.end(text)))
    await new Promise<void>(listening => exporter.listen(0, '127.0.0.1', listening))
    const serving = await start({ metrics: 'open' })
    const scraped = { serve: new URL(serving.url).host, node: `127.0.0.1:${(exporter.address() as AddressInfo).port}` }
    await using prometheus = await startPrometheus(scraped)
    const valueOf = async (expression: string) => (await prometheus.query(expression))[0]?.value[1]

    await post(lines(3))
    await eventually(async () => {
      expect(await valueOf('sluice_documents_total{job="serve",outcome="created"}')).toBe('3')
      expect(await valueOf('sluice_documents_total{sluice_job="nightly",outcome="rejected"}')).toBe('1')
    })
    expect(await prometheus.query('up == 0')).toEqual([])
    // Every query of the dashboard is one, and finds what there is.
    const dashboard = JSON.parse(await readFile(resolve('examples/grafana/sluice.json'), 'utf8')) as Dashboard
    const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    const found: number[] = []
    for (const expression of expressions) {
      const asked = expression.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*')
      found.push((await prometheus.query(asked)).length)
    }
    expect(found.length).toBeGreaterThan(12)
    const names = new Set(expressions.flatMap(one => one.match(/sluice_[a-z_]+/g) ?? []))
    for (const { status, text } of [
      await ask(`${serving.url}metrics`),
      { status: 200, text: await readFile(path('nightly.prom'), 'utf8') },
    ]) {
      expect(status).toBe(200)
      const { code: verdict, output } = await promtool(['check', 'metrics'], text)
      expect([verdict, output]).toEqual([0, ''])
      for (const name of text.match(/^# TYPE (\S+)/gm) ?? []) names.delete(name.slice(7))
    }
    names.delete('sluice_job')
    names.delete('sluice_request_duration_seconds_bucket')
    expect([...names]).toEqual([])

    lab.control.register('none')
    await post(lines(1))
    await eventually(async () => expect(await valueOf('sluice_access_lost{job="serve"}')).toBe('1'))
    await serving.close()
    exporter.close()
  })
})

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}
