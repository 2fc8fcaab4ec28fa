### Studio 页面的中文文本。英文文本在 ../en/studio.ftl，标识符和参数相同。

## 所有页面

strip-start = 开始运行
strip-record = 录制
strip-import = 导入计划
strip-history = 历史
strip-retention = 保留策略
search = 搜索
file = 文件
share = 导出为文件
messages = 消息
list-separator = 、
clause-separator = ，

link-title = Studio
link-continue = 继续

## 被拒绝的请求和问题

refused-host = 这不是 Studio 的地址。请打开 `brunt studio` 显示的链接。
refused-proxy = Studio 不通过录制代理应答。请不要为其地址设置代理。
refused-site = Studio 只响应自己的页面。请返回，重新加载页面后再试。
refused-token = 此浏览器未获授权。请打开 `brunt studio` 显示的链接。链接只能使用一次：在运行该命令的终端按 Enter 可获得新链接。
refused-link = 此链接已失效。在运行 `brunt studio` 的终端按 Enter 可获得新链接。

problem-busy = 等待缓慢文件的请求过多。请一分钟后重试。
problem-title = 无法显示
problem-runs = 所有运行
problem-no-page = 没有这个页面。
form-slow = 未能及时收到请求的内容。
form-long = 此请求的内容最多 { $bytes } 字节。
language-unknown = `{ $tag }`：表单中的语言未知；请填写 en 或 zh。

## 运行与实验列表

runs-title = 运行
runs-heading = 运行与实验
runs-count = 共 { $count } 项
runs-found = { $found } 项（共 { $count } 项）
runs-none = 还没有存储任何运行。请在终端运行 { $command }，然后重新加载本页面。
runs-compare = 比较所选项
runs-reference = 以最早的一项为基准。
runs-host = 主机
runs-label = 标签
runs-tag = 标记
runs-verdict = 判定
runs-any = 不限
runs-pinned = 已固定
runs-show = 显示
runs-all = 全部
runs-history = 所选项的历史
runs-select = 选择
runs-select-one = 选择 { $id }
runs-column-id = 编号
runs-column-when = 时间（UTC）
runs-column-when-local = 时间
runs-column-what = 目标
runs-column-load = 负载
runs-column-throughput = 响应/s
runs-column-p99 = p99
runs-column-errors = 错误
runs-column-verdict = 判定
runs-remarks = 标记与备注
runs-experiment = 实验
runs-trials = { $name }，已完成 { $done } 次试验，共 { $all } 次
runs-users = { $figures } 个用户
runs-rate = { $figures }/s
runs-running = 运行中
runs-interrupted = 已中断
runs-torn = 日志不完整
runs-verdict-and-state = { $verdict }，{ $progress }
runs-protected = 不会被删除
runs-pages = 分页
runs-later = 较新
runs-earlier = 较早
runs-page = 第 { $number } 页，共 { $count } 页

verdict-state = { $state ->
    [ok] OK
    [unjudged] 无法判定
    [busy_machine] 机器繁忙
    [unexplained] 原因不明
    [limited] 负载生成器受限
   *[invalid] 无效
}

## 运行或实验

item-replay = 回放
item-history = 同类运行的历史
item-no-replay-yet = 正在进行的运行还不能回放。
item-no-replay = 只有运行可以回放，实验不能：请打开其中的一次运行。
item-no-subset = { $id } 没有 `{ $only }` 随时间变化的数据。
item-experiment = 所属实验
item-charts = { $kind ->
    [population] 用户群 { $name } 的图表
    [agent] 压测代理 { $name } 的图表
    [label] 标签 { $name } 的图表
   *[transaction] 事务 { $name } 的图表
}
item-whole-run = 显示整个运行
item-pin = 固定
item-unpin = 取消固定
item-tag = 添加标记
item-new-tag = 新标记
item-tag-example = 标记
item-remove-tag = 删除标记 { $tag }
item-note = 备注
item-save-note = 保存备注
item-runs = 实验中的运行
item-no-order = 此表单没有指令：需要 mark 或 stop。
item-no-active-trial = 此刻没有正在进行的试验。请在下一次试验开始后重试。
item-no-change = 此表单没有修改：需要 tag、untag、pin、unpin 或 note。

## 正在进行的运行或实验

live-running = 已运行 { $time }
live-age = ；最新数据为 { $seconds } s 前
live-silent = 没有数据：Studio 没有响应（{ $error }）
live-over = 运行已结束。
live-experiment-over = 实验已结束。
live-load = 加载其页面
live-mark = 时间标记
live-mark-example = 例如：已部署
live-mark-now = 标记此刻
live-stop = 停止运行
live-trials = { $planned } 次试验中已结束 { $ended } 次。
live-trials-of-search = 已结束 { $ended } 次试验。
live-active-trial = 正在进行的试验
live-results = 显示所有已结束试验的结果
live-stop-experiment = 停止实验

## 运行的回放

replay-no-time = { $field }={ $value }：请填写以秒为单位的时间，例如 12.5
replay-instant = 回放的时刻，单位为秒
replay-show = 显示
replay-speed = 回放速度
replay-play = 播放
replay-pause = 暂停
replay-at = { $time }（共 { $end }）
replay-end = 运行结束时

## 比较

compare-title = 比较
compare-strip = 比较：{ $names }
compare-active = { $id } 仍在运行；请在结束后比较。
compare-too-few = 请在列表中选择至少两个运行或实验。
compare-differences = 为什么有差异？
compare-no-facts = 数据、环境、服务器和版本的已知信息都没有差异。
compare-facts = 有差异的信息
compare-subject = 类别
compare-fact = 信息
compare-plan = 计划
compare-data = 数据
compare-environment = 环境
compare-server = 服务器
compare-version = 版本
compare-values = 计划中的 { $count } 个值
compare-values-table = 计划中有差异的值
compare-place = 在计划中的位置
compare-first-values = 只显示前 { $count } 个。
compare-excerpt = { $excerpt }（{ $count } 个字符）

## 开始运行

start-target = URL 或计划文件
start-next = 下一步
start-edit = 编辑计划
start-try = 试运行一次
start-try-about = 一个用户执行一次场景，并显示每个请求和响应。
start-rate = 每秒到达的请求数
start-rate-example = 例如 500，或 0..500/30s,500/2m
start-users = 用户数（不设速率时）
start-users-example = 10
start-time = 时间
start-time-example = 10s
start-requests = 请求数（代替时间）
start-requests-example = { "" }
start-options = 其他选项，写法与终端相同
start-options-example = 例如 -H 'Accept: text/html'
start-run = 开始
leases = 租约
leases-about = 这些服务器正在被测量。需要其中之一的运行会被拒绝。仅当持有者已不在时才结束其租约。
lease-servers = 服务器
lease-holder = 持有者
lease-purpose = 用途
lease-remaining = 剩余时间
lease-end = 结束
start-no-variables = 此计划没有变量。
start-several-values = 多个值
start-no-target = 请填写 URL 或计划文件的路径。
start-unreadable = { $path }：{ $error }；请填写带协议的 URL，或计划文件
start-open-quote = 选项中的引号没有结尾。
starting-title = 正在启动
starting-about = 运行开始后将立即显示其页面。


## 保留策略

retention-title = 保留策略
retention-about = 旧的事件日志会转为摘要，报告仍然可用。过旧或过多的运行和实验会被删除。已固定的项、基线和正在进行的运行会保留。
retention-logs-older-than = 日志早于
retention-older-than = 运行和实验早于
retention-max-size = 存储的最大容量
retention-list = 列出步骤
retention-no-limit = 此表单没有限制条件。
retention-changed = 步骤在显示之后发生了变化。没有删除任何内容。
retention-nothing = 没有可删除的内容；存储的大小为 { $size }。
retention-frees = 这些步骤将释放 { $freed }（共 { $size }）。此操作无法撤销。
retention-prune = 执行这些步骤
retention-freed = 已释放 { $freed }（共 { $size }）。
retention-skipped = 已跳过 { $id }：{ $reason }
retention-column-action = 操作
retention-column-id = 编号
retention-column-age = 存在时间
retention-column-size = 大小
retention-column-reason = 原因
retention-remove-log = 删除日志
retention-remove-logs = 删除全部日志
retention-remove-run = 删除运行
retention-remove-experiment = 删除实验
retention-log-is-older = 日志早于 { $limit }
retention-is-older = 早于 { $limit }
retention-is-larger = 存储大于 { $limit }
retention-keep = 保留
retention-baseline = 基线 `{ $name }`
retention-pinned = 已固定
retention-active = 仍在写入

## 导入计划

import-title = 导入
import-formats = 支持的格式：浏览器录制（HAR）、curl 命令、OpenAPI、Postman 集合、JMeter 计划、URL 列表。
import-input = 输入
import-drop = 将文件拖放到此处，或粘贴其文本
import-plan-file = 要创建的计划文件
import-unknown = 无法识别格式。请使用 HAR、curl 命令、OpenAPI、Postman 集合、JMeter 计划（.jmx），或每行一个 URL。
import-unsaved = 计划尚未保存。其中的注释列出了计划无法表达的所有输入内容。
import-secrets = 未复制机密信息。运行前请设置以下环境变量：
import-losses = 未导入或有差异的内容：

## 计划文件编辑器

edit-text = 计划的文本
edit-problems = 问题
edit-save = 保存
edit-save-and-try = 保存并试运行一次
edit-convert = 转换为计划文件
edit-no-plan = `{ $file }`：请填写计划文件的路径，例如 shop.yaml
edit-large = { $file }：编辑器最多打开 10 MiB
edit-encoding = { $file }：编辑器中的文件必须使用 UTF-8，并且不能声明其他编码
edit-unreadable = 无法读取 { $file }：{ $error }
edit-unwritable = 无法写入 { $file }：{ $error }
edit-changed = { $file } 在此处打开之后已在磁盘上被修改，因此没有写入。请将此文本另存为其他文件，或重新打开该文件。
edit-unsupported = brunt 不执行此元素：{ $element }
edit-no-element = `{ $path }`：计划中没有这个元素
edit-forgotten = Studio 已不再保存此文本；请重新发送。
edit-users = 并发用户
edit-requests = 请求/s

## 计划文件的试运行

try-of-file = { $file } 的第 { $number } 次试运行
try-no-plan = 请填写计划文件的路径。
try-forgotten = 第 { $number } 次试运行已不再保留：Studio 只保留最近 { $count } 次试运行。
try-again = 再次试运行
try-compare = 与第 { $number } 次试运行比较
try-running = 运行中
try-stop = 停止
try-samples = 样本
try-end-of-iteration = 迭代结束
try-more = 另有 { $count } 项

## 试运行的样本

sample-good = 成功
sample-failed = 失败
sample-result = { $outcome }：{ $status }
sample-received = 接收 { $size }
sample-sent = 发送 { $size }
sample-opening = 打开连接用时 { $time }
sample-first-byte = 首字节在 { $time } 后
sample-summary = { $facts }；用户 { $user }，迭代 { $iteration }
sample-summary-with-url = { $facts }；用户 { $user }，迭代 { $iteration }；{ $url }
sample-variables-before = 请求之前的变量
sample-variables-after = 响应之后的变量
sample-variable = 变量
sample-before = 之前
sample-after = 之后
sample-challenged = 要求认证的响应
sample-part = 第 { $number } 部分，共 { $count } 部分
sample-evaluations = 提取器与检查
sample-kind = 种类
sample-name = 名称
sample-expected = 预期值或表达式
sample-found = 实际值
sample-outcome = 结果
sample-extractor = 提取器
sample-check = 检查
sample-script = 脚本
sample-matched = 匹配
sample-no-match = 不匹配
sample-passed = 通过
sample-failed-check = 未通过
sample-ended = 已结束
sample-error = 错误
sample-request = 请求
sample-reply = 响应的状态与头部

## 响应的正文

body-title = 响应的正文，{ $size }
body-text = 文本
body-tree = 树
body-bytes = 字节
body-large = 大于 { $size } 的正文只显示为文本。
body-selected = 正文中的文本
body-propose = 推荐提取器
body-found = 找到 { $count } 处
body-part = 字节 { $from } 至 { $to }
body-before = 上一段
body-after = 下一段
tree-no-json = 无法将 JSON 显示为树：{ $error }
tree-unknown = 正文不是 JSON、XML 或 HTML：{ $error }
tree-cut = 树中只显示前 { $count } 个值。

## 推荐的提取器

extract-title = { $text } 的提取器
extract-not-in-body = 所选文本不在此正文中。
extract-none = 没有提取器的首个匹配是此文本；请选择完整的值。
extract-by = 方式
extract-expression = 表达式
extract-matches = 所有响应中的匹配数
extract-matching-replies = 有匹配的响应
extract-replies = { $count }（共 { $all }）
extract-contained = { $all } 个响应中有 { $count } 个包含此文本
extract-add-check = 添加检查：正文包含此文本
extract-add = 添加到计划
extract-variable = 变量
extract-no-extractor = 此表单没有提取器。
extract-no-sample = 没有这个样本。
extract-no-name = `{ $variable }`：请填写由字母、数字和 _ 组成的名称，例如 token
extract-exists = { $path } 已有值；请使用其他名称，或修改计划的文本
extract-no-step = { $file } 中有 { $count } 个步骤使用标签 `{ $label }`；请为该步骤设置唯一的 `name`，然后重新试运行

## 两次试运行的比较

tries-title = 第 { $ours } 次与第 { $theirs } 次试运行的比较
tries-equal = 状态、变量、提取器、检查和大小都相同。
tries-count = { $count } 处差异
tries-sample = 样本
tries-value = 值
tries-try = 第 { $number } 次试运行
tries-status = 状态
tries-result = 结果
tries-body = 正文 { $number }
tries-bytes = { $count } 字节
tries-request = 请求
tries-variable = 变量 { $name }
tries-found = { $name } 的实际值

## Recordings

record-title = 录制
record-active = 进行中：录制 { $number }，文件 { $file }
record-url = URL
record-source = 来源
record-browser = 浏览器，现在打开
record-headless = 无窗口的浏览器：只录制第一个页面
record-proxy = 其他程序或手机，使用代理
record-twice = 录制两次以查找动态值：在第二次录制中重复相同的操作
record-file = 要创建的计划文件
record-overwrite = 如果文件已存在，则覆盖
record-address = 代理地址
record-phone = 对于手机，请填写本机在其网络中的地址和端口。
record-start = 开始录制
record-no-url = 请填写第一个页面的 URL，例如 https://shop.example/。
record-no-plan = 录制会创建计划文件，例如 shop.yaml。
recording-title = 录制
recording-active = 请像访问者一样使用网站。录制结束后，计划会在这里打开。
recording-twice = 结束第一次录制，重复相同的操作，然后结束第二次录制。
recording-end = 结束录制
recording-process = 没有 Studio，录制也会继续。其进程号为 { $process }。
recording-failed = 录制失败。
recording-options = 在表单中，--headless 对应来源“{ $headless }”，--force 对应“{ $overwrite }”。
recording-again = 重新录制
recording-saved = 录制的计划已保存在此文件中。
recording-messages = 录制的消息
recording-unknown = Studio 没有录制 { $number }。它只保留最近启动的录制。

## History

history-figure = 指标
history-like = 同类运行
history-latest-run = 最近一次
history-latest = 最近
history-like-run = 与 { $run } 同类
history-changes = 变化点
history-runs = 运行
history-table = 历史中的运行
history-remarks = 备注
history-terminal = 在终端中：{ $command }
history-all-series = 所有系列
history-compare = 比较变化前后的运行
history-compare-several = 每一侧比较多次运行：{ $command }
history-levels = 变化点之间的水平
history-level-first = 首次运行
history-level-last = 末次运行
history-level-runs = 运行次数
history-level-median = 中位数
history-series = 所选项中的系列：{ $count }
history-latest-series = 只显示最近的 { $count } 个。
history-series-item = { $series }：{ $count } 次运行，{ $first }至 { $last }

## Team

refused-permission = 此令牌的权限为 `read`，而这里需要 `run`。Studio 的运维人员可以创建一个：brunt studio token NAME run
refused-cookie = API 不接受用 cookie 进行的更改。请发送请求头 `Authorization: Bearer TOKEN`，令牌由 `brunt studio token NAME run` 创建。
refused-tokens = 现在没有有效的令牌，因为令牌文件无法使用。Studio 的运维人员可以在其消息中看到原因。
strip-sign-out = 退出登录
sign-in-title = 登录
sign-in-token = 令牌
sign-in-hint = 此 Studio 的运维人员使用 { $command } 创建令牌。
sign-in-no-token = 没有这样的令牌。
