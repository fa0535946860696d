// The health check of the container. `sluice serve` accepts documents if GET /health answers 200. A load has no port, and ends by itself.
const { SLUICE_LISTEN: listen, SLUICE_SERVE_CERT: certificate } = process.env
if (listen !== undefined) {
  // The certificate names the host that callers use, not this one.
  const { get } = await import(certificate === undefined ? 'node:http' : 'node:https')
  const where = { host: '127.0.0.1', port: /\d+$/.exec(listen)?.[0], path: '/health', rejectUnauthorized: false }
  const asked = get({ ...where, timeout: 4000 }, answer => process.exit(answer.statusCode === 200 ? 0 : 1))
  for (const event of ['timeout', 'error']) asked.on(event, () => process.exit(1))
}
