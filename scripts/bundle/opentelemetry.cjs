// What the bundle holds of OpenTelemetry. The transport makes spans for the calls of the client's API, which have a name; its own
// requests have none, and pass. Its packages bring 280 KB, most of it names of attributes.
exports.trace = { getTracer: () => undefined }
