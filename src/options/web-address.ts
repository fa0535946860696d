/**
 * Whether a text is an http or https URL with a host of its own. Node's parser repairs what it should refuse: it takes
 * `https:///path/` for the host `path`, and `http:host` for a URL.
 */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^/\\?#\s]\S*$/i.test(text) && URL.canParse(text)
}
