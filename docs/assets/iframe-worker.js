/* Search from file://, where browsers start no worker: its script runs in a hidden frame.
   Loaded in place of the script that the offline plugin would fetch from the web. The
   search of Material for MkDocs looks for the name IFrameWorker in the frame's parent. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      const script = document.createElement("script");
      script.src = url;
      frame.srcdoc = script.outerHTML;
      this.loaded = new Promise((resolve) => {
        frame.onload = () => {
          frame.contentWindow.postMessage = (data) => this.receive(data);
          resolve(frame.contentWindow);
        };
      });
      document.body.append(frame);
    }

    receive(data) {
      this.dispatchEvent(new MessageEvent("message", { data }));
    }

    postMessage(data) {
      this.loaded.then((inside) =>
        inside.dispatchEvent(new MessageEvent("message", { data })),
      );
    }
  };
  window.Worker = window.IFrameWorker;
}
