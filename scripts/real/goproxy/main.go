// A proxy of github.com/elazarl/goproxy for the tests on real servers: ADDRESS [USERNAME PASSWORD].
package main

import (
	"bytes"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/elazarl/goproxy"
)

func main() {
	proxy := goproxy.NewProxyHttpServer()
	if len(os.Args) > 3 {
		login := "Basic " + base64.StdEncoding.EncodeToString([]byte(os.Args[2]+":"+os.Args[3]))
		isKnown := func(request *http.Request) bool {
			given := request.Header.Get("Proxy-Authorization")
			request.Header.Del("Proxy-Authorization")
			return given == login
		}
		proxy.OnRequest().DoFunc(func(request *http.Request, _ *goproxy.ProxyCtx) (*http.Request, *http.Response) {
			if isKnown(request) {
				return request, nil
			}
			return nil, refusal(request)
		})
		proxy.OnRequest().HandleConnectFunc(func(host string, context *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
			if isKnown(context.Req) {
				return goproxy.OkConnect, host
			}
			context.Resp = refusal(context.Req)
			return goproxy.RejectConnect, host
		})
	}
	log.Fatal(http.ListenAndServe(os.Args[1], proxy))
}

func refusal(request *http.Request) *http.Response {
	return &http.Response{
		StatusCode:    http.StatusProxyAuthRequired,
		ProtoMajor:    1,
		ProtoMinor:    1,
		Request:       request,
		Header:        http.Header{"Proxy-Authenticate": []string{"Basic realm=\"goproxy\""}},
		Body:          io.NopCloser(bytes.NewReader(nil)),
		ContentLength: 0,
	}
}
