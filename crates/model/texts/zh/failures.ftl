### Kinds of failures. A meaning and a remedy are attributes of the name.

failure-resolve = 域名无法解析
    .meaning = 主机名没有对应的地址
    .remedy = 检查拼写，或用 --resolve host:port:addr 指定地址

failure-refused = 连接被拒绝
    .meaning = 没有进程监听此端口
    .remedy = 服务器是否在运行，并且监听此端口？在负载下：accept 队列已满，并且启用了 tcp_abort_on_overflow

failure-unreachable = 不可达
    .meaning = 没有到服务器的路由，或防火墙拒绝了连接
    .remedy = 检查地址、路由和防火墙

failure-connect-timeout = 连接超时
    .meaning = 建立连接超时
    .remedy = 可能是服务器的 accept 队列已满（backlog、net.core.somaxconn），也可能是防火墙丢弃了数据包；见 --connect-timeout

failure-tls = TLS 握手失败
    .meaning = TLS 握手失败
    .remedy = 检查证书（--cacert FILE 或 --insecure）、名称（--sni）和服务器支持的版本

failure-proxy = 代理错误
    .meaning = 代理不可达，或拒绝建立连接
    .remedy = 检查 --proxy 指定的代理是否在运行，并且允许访问此目标

failure-reset = 连接被重置
    .meaning = 在收到完整的响应之前，服务器重置了连接
    .remedy = 检查服务器的错误日志：可能的原因有崩溃、达到上限或 accept 队列已满

failure-stale = 连接已失效
    .meaning = 再次使用保持的连接时，服务器已将其关闭
    .remedy = 提高服务器的 keep-alive 超时和请求数上限，或像浏览器一样用 --retry-stale 重新请求

failure-timeout = 响应超时
    .meaning = 在超时时间内没有收到完整的响应
    .remedy = 服务器过载或停止响应；--timeout 设置等待时间

failure-protocol = 协议错误
    .meaning = 响应不符合此版本的 HTTP
    .remedy = 服务器在此端口上是否使用此版本的 HTTP（--http），而不是 TLS？

failure-closed-early = 连接提前关闭
    .meaning = 在收到完整的响应之前，连接已结束
    .remedy = 检查服务器的错误日志：可能的原因有工作进程终止，或达到时间、大小的上限

failure-check = 检查未通过
    .meaning = 收到了完整的响应，但不是预期的响应
    .remedy = 用 curl 查看一个响应；见 --expect-status、--expect-body、--expect-same-length

failure-fds-exhausted = 文件描述符耗尽
    .meaning = 进程达到了打开文件数的上限
    .remedy = 提高该上限（ulimit -n、LimitNOFILE=），或减少连接

failure-ports-exhausted = 本地端口耗尽
    .meaning = 没有空闲的本地端口
    .remedy = 复用连接，用 --source 增加地址，扩大 net.ipv4.ip_local_port_range，或等待 TIME_WAIT 结束

failure-dropped = 被丢弃
    .meaning = 已到计划的时刻，但从未开始
    .remedy = 服务器处理不过来：降低 --rate，或提高 --max-in-flight 或 --connections

failure-cut = 被中断
    .meaning = 运行结束时尚未完成
    .remedy = 延长 --grace 可让这些请求完成

failure-system = 本机错误
    .meaning = brunt 无法生成请求，或本机无法发送请求；原因见警告
    .remedy = 查看说明原因的警告

failure-stream-reset = 流被重置
    .meaning = 在收到完整的响应之前，服务器重置了流
    .remedy = 检查服务器的错误日志；重置的代码同时显示

failure-unprocessed = 未被处理
    .meaning = 服务器两次拒绝了流，或在处理之前结束了连接
    .remedy = 提高服务器对流和对每个连接请求数的上限（nginx：http2_max_concurrent_streams、keepalive_requests）

failure-not-allowed = 目标不被允许
    .meaning = 该主机不在允许的目标之中
    .remedy = 如果可以对它施加负载，用 --allow-target HOST 允许它，或在计划文件中写 `allow: [HOST]`；警告中有该主机的名称

failure-deadline-exceeded = grpc 4 DEADLINE_EXCEEDED
    .meaning = 调用的截止时间已过（按 brunt 或服务器的时钟）
    .remedy = 服务器过载或停止响应；--timeout 设置截止时间
