<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>window</name>
        <message>
            <location filename="../../app/answer.py"></location>
            <source>Stopping  ·  Esc again leaves it</source>
            <translation>正在停止  ·  再按 Esc 不再等待</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/answer.py"></location>
            <source>{count:,} tokens</source>
            <translation>
                <numerusform>{count:,} 词元</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/answer.py"></location>
            <source>Esc stops</source>
            <translation>按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/answer.py"></location>
            <source>Waiting for the answer in another chat  ·  Esc stops</source>
            <translation>正在等待另一个对话的回答  ·  按 Esc 停止</translation>
        </message>
        <message>
            <location filename="../../app/answer.py"></location>
            <source>Reading your message: {share} % of {total} tokens, {reused} already known</source>
            <translation>正在读取你的消息：{total} 词元的 {share}%，其中 {reused} 词元无需重读</translation>
        </message>
        <message>
            <location filename="../../app/answer.py"></location>
            <source>Reading your message: {share} % of {total} tokens</source>
            <translation>正在读取你的消息：{total} 词元的 {share}%</translation>
        </message>
        <message>
            <location filename="../../app/answer.py"></location>
            <source>Waiting for the first word  ·  {waited}</source>
            <translation>正在等待第一个词  ·  {waited}</translation>
        </message>
        <message>
            <location filename="../../app/answer.py"></location>
            <source>{rate} tok/s</source>
            <translation>{rate} 词元/秒</translation>
        </message>
        <message>
            <location filename="../../app/assembly.py"></location>
            <source>Some settings could not be used.</source>
            <translation>部分设置无法使用。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/desk.py"></location>
            <source>Attach text, code or PDF files</source>
            <translation>添加文本、代码或 PDF 附件</translation>
        </message>
        <message>
            <location filename="../../app/attachments/desk.py"></location>
            <source>Pasted text {number}</source>
            <translation>粘贴的文本 {number}</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} is too large ({size:,.0f} MB).</source>
            <translation>{file} 太大（{size:,.0f} MB）。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Attach the part that matters.</source>
            <translation>请只添加需要的部分。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} is a folder.</source>
            <translation>{file} 是文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Attach the files in it that matter.</source>
            <translation>请添加其中需要的文件。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} cannot be read ({error}).</source>
            <translation>无法读取 {file}（{error}）。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Check the file.</source>
            <translation>请检查该文件。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>There is no text in {file}.</source>
            <translation>{file} 中没有文本。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>It may consist of pictures; Underhill reads no pictures.</source>
            <translation>它可能只包含图片；Underhill 无法读取图片。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>The file is empty.</source>
            <translation>文件为空。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} is no text.</source>
            <translation>{file} 不是文本文件。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Text, code and PDF files can be attached.</source>
            <translation>可以添加文本、代码和 PDF 文件。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} is locked with a password.</source>
            <translation>{file} 受密码保护。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Save it without one, then attach it.</source>
            <translation>请另存为无密码的文件后再添加。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>{file} cannot be read as a PDF.</source>
            <translation>无法将 {file} 作为 PDF 读取。</translation>
        </message>
        <message>
            <location filename="../../app/attachments/reading.py"></location>
            <source>Open it in a PDF viewer and copy the text that matters.</source>
            <translation>请在 PDF 阅读器中打开，并复制需要的文本。</translation>
        </message>
        <message>
            <location filename="../../app/attention.py"></location>
            <source>Show Underhill</source>
            <translation>显示 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/attention.py"></location>
            <source>New chat</source>
            <translation>新对话</translation>
        </message>
        <message>
            <location filename="../../app/attention.py"></location>
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <location filename="../../app/attention.py"></location>
            <source>Your answer is there</source>
            <translation>回答已完成</translation>
        </message>
        <message>
            <location filename="../../app/attention.py"></location>
            <source>answering</source>
            <translation>正在回答</translation>
        </message>
        <message>
            <location filename="../../app/chat_desk.py"></location>
            <source>“{title}” is now in the folder “{folder}”.</source>
            <translation>“{title}”已移到文件夹“{folder}”。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/chat_desk.py"></location>
            <source>%n chats are now in “{folder}”.</source>
            <translation>
                <numerusform>%n 个对话已移到“{folder}”。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/chat_desk.py"></location>
            <source>“{title}” is no longer in a folder.</source>
            <translation>“{title}”已移出文件夹。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/chat_desk.py"></location>
            <source>%n chats are no longer in a folder.</source>
            <translation>
                <numerusform>%n 个对话已移出文件夹。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/chat_desk.py"></location>
            <source>Undo</source>
            <translation>撤销</translation>
        </message>
        <message>
            <location filename="../../app/chat_desk.py"></location>
            <source>New folder</source>
            <translation>新建文件夹</translation>
        </message>
        <message>
            <location filename="../../app/chat_desk.py"></location>
            <source>Name of the folder</source>
            <translation>文件夹名称</translation>
        </message>
        <message>
            <location filename="../../app/chat_desk.py"></location>
            <source>“{title}” was deleted.</source>
            <translation>已删除“{title}”。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/chat_desk.py"></location>
            <source>%n chats were deleted.</source>
            <translation>
                <numerusform>已删除 %n 个对话。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/chat_desk.py"></location>
            <source>New folder…</source>
            <translation>新建文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/chat_desk.py"></location>
            <source>Recently deleted…</source>
            <translation>最近删除…</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Your chats were saved by a newer version of Underhill.</source>
            <translation>你的对话由更新版本的 Underhill 保存。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Install that version again to see them. They are untouched.</source>
            <translation>重新安装该版本即可查看。这些对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>The file that holds your chats is damaged.</source>
            <translation>保存对话的文件已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Another program is holding the file that keeps your chats.</source>
            <translation>其他程序正占用保存对话的文件。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Close other Underhill windows or backup programs, then try again.</source>
            <translation>请关闭其他 Underhill 窗口或备份程序，然后重试。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>The disk is full, so your chats cannot be saved.</source>
            <translation>磁盘已满，无法保存你的对话。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Free some space, then try again.</source>
            <translation>请释放一些空间，然后重试。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Underhill may not write to {folder}.</source>
            <translation>Underhill 没有权限写入 {folder}。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Check the permissions of that folder, then start Underhill again.</source>
            <translation>请检查该文件夹的权限，然后重新启动 Underhill。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Your chats cannot be saved.</source>
            <translation>无法保存你的对话。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Check the folder {folder}.</source>
            <translation>请检查文件夹 {folder}。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>The file that holds your chats is damaged. Underhill has started a new one.</source>
            <translation>保存对话的文件已损坏。Underhill 已新建一个。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>The damaged file is kept as {file}; a backup of yours can be put in its place.</source>
            <translation>损坏的文件已保存为 {file}；可以用你的备份替换它。</translation>
        </message>
        <message>
            <location filename="../../app/chats/opening.py"></location>
            <source>Until then, chats are not saved.</source>
            <translation>在此之前，对话不会被保存。</translation>
        </message>
        <message>
            <location filename="../../app/disk_desk.py"></location>
            <source>Try again</source>
            <translation>重试</translation>
        </message>
        <message>
            <location filename="../../app/disk_desk.py"></location>
            <source>Open the folder</source>
            <translation>打开文件夹</translation>
        </message>
        <message>
            <location filename="../../app/disk_desk.py"></location>
            <source>Restore a backup…</source>
            <translation>从备份恢复…</translation>
        </message>
        <message>
            <location filename="../../app/disk_desk.py"></location>
            <source>Manage models</source>
            <translation>管理模型</translation>
        </message>
        <message>
            <location filename="../../app/disk_desk.py"></location>
            <source>Your chats are saved again.</source>
            <translation>对话已恢复保存。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/advice.py"></location>
            <source>The quickest of those that run well here.</source>
            <translation>在这台电脑上运行良好的模型中最快的一个。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/advice.py"></location>
            <source>The largest that answers here as fast as one reads.</source>
            <translation>回答速度跟得上阅读的模型中最大的一个。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/advice.py"></location>
            <source>Smaller and quicker.</source>
            <translation>更小、更快。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/advice.py"></location>
            <source>Larger, and slower.</source>
            <translation>更大，但更慢。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/advice.py"></location>
            <source>None of the {known} models that Underhill recommends runs well here; the built-in one does.</source>
            <translation>Underhill 推荐的 {known} 个模型都不适合这台电脑；内置模型可以正常运行。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/advice.py"></location>
            <source>{fit} of the {known} models that Underhill recommends run well here.</source>
            <translation>Underhill 推荐的 {known} 个模型中，有 {fit} 个能在这台电脑上良好运行。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/advice.py"></location>
            <source>about {minutes} min at 50 Mbit/s</source>
            <translation>以 50 Mbit/s 约需 {minutes} 分钟</translation>
        </message>
        <message>
            <location filename="../../app/first_run/advice.py"></location>
            <source>about {hours:.1f} h at 50 Mbit/s</source>
            <translation>以 50 Mbit/s 约需 {hours:.1f} 小时</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>A model for this computer</source>
            <translation>适合这台电脑的模型</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Open that setting</source>
            <translation>打开此设置</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Do you have a model already? Underhill can make its own copy of it, without a network.</source>
            <translation>已经有模型了？Underhill 无需联网就能为它制作自己的副本。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Underhill stays offline and fetches nothing. The built-in model works, as does one you bring.</source>
            <translation>Underhill 保持离线，不会下载任何内容。内置模型和你自己的模型都可以使用。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Underhill looks which models suit this computer. The built-in one can be used at once.</source>
            <translation>Underhill 正在查找适合这台电脑的模型。内置模型可以立即使用。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>None of the models in Underhill's list suits this computer as it is now. The built-in one does.</source>
            <translation>Underhill 列表中的模型都不适合这台电脑目前的状态。内置模型适合。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Fetching one takes a while; meanwhile, and without a network, the built-in model is there.</source>
            <translation>下载模型需要一些时间；在此期间或没有网络时，可以使用内置模型。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Chat with it</source>
            <translation>开始对话</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Get it</source>
            <translation>下载</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Go on</source>
            <translation>继续</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>{amount} to fetch, {time}</source>
            <translation>需下载 {amount}，{time}</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>{amount} on the disk</source>
            <translation>占用磁盘 {amount}</translation>
        </message>
        <message>
            <location filename="../../app/first_run/choice.py"></location>
            <source>it is here already</source>
            <translation>已在本机</translation>
        </message>
        <message>
            <location filename="../../app/first_run/desk.py"></location>
            <source>Open it</source>
            <translation>打开</translation>
        </message>
        <message>
            <location filename="../../app/first_run/desk.py"></location>
            <source>{model} has arrived.</source>
            <translation>{model} 已下载完成。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/desk.py"></location>
            <source>{model} could not be fetched. {problem}</source>
            <translation>无法下载 {model}。{problem}</translation>
        </message>
        <message>
            <location filename="../../app/first_run/probe.py"></location>
            <source>Waiting for its turn</source>
            <translation>正在排队</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>Underhill runs large chat models on this computer, also models that are bigger than its memory.</source>
            <translation>Underhill 在这台电脑上运行大型对话模型，包括比内存还大的模型。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>Everything stays here: your chats, your files, and what is measured. Nothing is sent until you search for a model or fetch one.</source>
            <translation>一切都留在本机：你的对话、文件和测量结果。在你搜索或下载模型之前，不会发送任何内容。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>A small model is built in, so you can begin at once. The next two pages find one that suits this computer better.</source>
            <translation>内置了一个小模型，可以立即开始。接下来的两页会为这台电脑找到更合适的模型。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>Welcome to Underhill</source>
            <translation>欢迎使用 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>What is sent, and when</source>
            <translation>何时会发送什么</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>This computer</source>
            <translation>这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>Underhill measures how fast memory, disk and processor are, to say which models will run well. That takes some ten seconds, once, and stays here. You need not wait for it.</source>
            <translation>Underhill 会测量内存、磁盘和处理器的速度，以判断哪些模型能良好运行。只需测量一次，大约十秒，结果留在本机。你不必等待。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>How far the measurement is</source>
            <translation>测量进度</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>Measure again</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <location filename="../../app/first_run/steps.py"></location>
            <source>An answer is being written; the measurement goes on after it.</source>
            <translation>正在生成回答；测量会在之后继续。</translation>
        </message>
        <message>
            <location filename="../../app/first_run/tour.py"></location>
            <source>Look at this computer</source>
            <translation>查看这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/first_run/tour.py"></location>
            <source>Choose a model</source>
            <translation>选择模型</translation>
        </message>
        <message>
            <location filename="../../app/first_run/tour.py"></location>
            <source>Start chatting</source>
            <translation>开始对话</translation>
        </message>
        <message>
            <location filename="../../app/first_run/tour.py"></location>
            <source>Welcome tour</source>
            <translation>新手引导</translation>
        </message>
        <message>
            <location filename="../../app/first_run/tour.py"></location>
            <source>Back</source>
            <translation>上一步</translation>
        </message>
        <message>
            <location filename="../../app/first_run/tour.py"></location>
            <source>Skip the tour</source>
            <translation>跳过引导</translation>
        </message>
        <message>
            <location filename="../../app/first_run/tour.py"></location>
            <source>{number} of {count}</source>
            <translation>第 {number} 步，共 {count} 步</translation>
        </message>
        <message>
            <location filename="../../app/language/dates.py"></location>
            <source>dd MMMM yyyy, HH:mm</source>
            <comment>a date and time, in the letters of Qt's QLocale</comment>
            <translation>yyyy年M月d日 HH:mm</translation>
        </message>
        <message>
            <location filename="../../app/language/dates.py"></location>
            <source>dd MMMM</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>M月d日</translation>
        </message>
        <message>
            <location filename="../../app/language/dates.py"></location>
            <source>MMMM yyyy</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>yyyy年M月</translation>
        </message>
        <message>
            <location filename="../../app/language/dates.py"></location>
            <source>MMMM</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>M月</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>16 bits – as it is</source>
            <translation>16 位：原始精度</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>8 bits – practically the original</source>
            <translation>8 位：与原模型几乎无异</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>4 bits – nearly as good, half the size</source>
            <translation>4 位：效果接近，体积减半</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>2 bits – small, and noticeably less exact</source>
            <translation>2 位：体积小，精度明显下降</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>Get</source>
            <translation>获取</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>takes {size}</source>
            <translation>占用 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>{size} to fetch</source>
            <translation>需下载 {size}</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/details.py"></location>
            <source>%n files</source>
            <translation>
                <numerusform>%n 个文件</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>Open its page</source>
            <translation>打开网页</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>reads up to {tokens:,} tokens</source>
            <translation>最多可读取 {tokens:,} 词元</translation>
        </message>
        <message>
            <location filename="../../app/library/details.py"></location>
            <source>{experts} experts in each of {layers} layers, {active} at a time</source>
            <translation>共 {layers} 层，每层 {experts} 个专家，每次激活 {active} 个</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Models to get</source>
            <translation>可获取的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Search the hub, for instance “qwen3”</source>
            <translation>搜索模型站，例如“qwen3”</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Search the hub for models</source>
            <translation>在模型站搜索模型</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Only what fits</source>
            <translation>只看适合本机的</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Show more</source>
            <translation>显示更多</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Looking…</source>
            <translation>正在搜索…</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/discover.py"></location>
            <source>%n found on the hub</source>
            <translation>
                <numerusform>在模型站找到 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>The catalogue is on its way.</source>
            <translation>正在加载模型目录。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>The catalogue is empty.</source>
            <translation>模型目录为空。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Models that people run today, those that suit this computer first. Nothing is sent until you search or get one.</source>
            <translation>当下常用的模型，适合这台电脑的排在前面。在你搜索或获取模型之前，不会发送任何数据。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>None of these fits this computer.</source>
            <translation>其中没有适合这台电脑的模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Nothing that Underhill opens was found for “{words}”. Only Mixture-of-Experts models are shown.</source>
            <translation>没有找到与“{words}”相符且 Underhill 能打开的模型。这里只显示混合专家（MoE）模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Details</source>
            <translation>详情</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <location filename="../../app/library/discover.py"></location>
            <source>On its way</source>
            <translation>下载中</translation>
        </message>
        <message>
            <location filename="../../app/library/downloads.py"></location>
            <source>Downloads</source>
            <translation>下载</translation>
        </message>
        <message>
            <location filename="../../app/library/downloads.py"></location>
            <source>Nothing is on its way. Models are under “Get models”.</source>
            <translation>没有正在下载的模型。可在“获取模型”中查找模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/downloads.py"></location>
            <source>Dismiss</source>
            <comment>a download that is done</comment>
            <translation>移除</translation>
        </message>
        <message>
            <location filename="../../app/library/downloads.py"></location>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <location filename="../../app/library/elsewhere.py"></location>
            <source>Models of other apps</source>
            <translation>其他应用的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/elsewhere.py"></location>
            <source>Look</source>
            <translation>查找</translation>
        </message>
        <message>
            <location filename="../../app/library/elsewhere.py"></location>
            <source>Look again</source>
            <translation>重新查找</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/library/elsewhere.py"></location>
            <source>%n so far</source>
            <translation>
                <numerusform>已找到 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/library/elsewhere.py"></location>
            <source>What Hugging Face's cache, LM Studio and Ollama keep here can be imported without fetching it again.</source>
            <translation>Hugging Face 缓存、LM Studio 和 Ollama 已保存在本机的模型可以直接导入，无需重新下载。</translation>
        </message>
        <message>
            <location filename="../../app/library/elsewhere.py"></location>
            <source>No Mixture-of-Experts model of another app was found on this computer.</source>
            <translation>没有在这台电脑上找到其他应用的混合专家模型。</translation>
        </message>
        <message>
            <location filename="../../app/library/elsewhere.py"></location>
            <source>Import…</source>
            <translation>导入…</translation>
        </message>
        <message>
            <location filename="../../app/library/entry.py"></location>
            <source>{pill}: {reason}</source>
            <translation>{pill}：{reason}</translation>
        </message>
        <message>
            <location filename="../../app/library/entry.py"></location>
            <source>Progress of {title}</source>
            <translation>{title} 的进度</translation>
        </message>
        <message>
            <location filename="../../app/library/entry.py"></location>
            <source>More</source>
            <translation>更多</translation>
        </message>
        <message>
            <location filename="../../app/library/entry.py"></location>
            <source>{deed}: {title}</source>
            <translation>{deed}：{title}</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Back to the chat</source>
            <translation>返回对话</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Your models</source>
            <translation>我的模型</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Get models</source>
            <translation>获取模型</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>In other apps</source>
            <translation>其他应用</translation>
        </message>
        <message>
            <location filename="../../app/library/page.py"></location>
            <source>Downloads ({count})</source>
            <translation>下载（{count}）</translation>
        </message>
        <message>
            <location filename="../../app/library/section.py"></location>
            <source>Import a folder…</source>
            <translation>导入文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/library/section.py"></location>
            <source>Import a GGUF file…</source>
            <translation>导入 GGUF 文件…</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>Looking</source>
            <translation>正在查找</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>Checking {model}</source>
            <translation>正在校验 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>Moving {model}</source>
            <translation>正在移动 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>Importing {model}</source>
            <translation>正在导入 {model}</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>Waiting</source>
            <translation>正在等待</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>{model} is damaged.</source>
            <translation>{model} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>{model} is whole: every byte is as it was when it was made.</source>
            <translation>{model} 完好无损：每个字节都与制作时一致。</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>{model} is in {folder} now.</source>
            <translation>{model} 现位于 {folder}。</translation>
        </message>
        <message>
            <location filename="../../app/library/shelf.py"></location>
            <source>{model} is here.</source>
            <translation>{model} 已下载完成。</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>Fits</source>
            <translation>适合</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>Slow</source>
            <translation>较慢</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>Too big</source>
            <translation>过大</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>Stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>Here</source>
            <translation>已完成</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>{total} parameters</source>
            <translation>{total} 参数</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>{total} parameters, {active} of them active</source>
            <translation>{total} 参数，其中激活 {active}</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>experts at {bits} bits</source>
            <translation>专家精度 {bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>{size} on the disk</source>
            <translation>占用磁盘 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>licence {licence}</source>
            <translation>许可证 {licence}</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>asks for an account</source>
            <translation>需要登录账号</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>kept by {app}</source>
            <translation>来自 {app}</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>{done} of {total}</source>
            <translation>{done} / {total}</translation>
        </message>
        <message>
            <location filename="../../app/library/words.py"></location>
            <source>{size}/s</source>
            <translation>{size}/s</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>The list of models is on its way.</source>
            <translation>正在加载模型列表。</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Open now</source>
            <translation>已打开</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Check every byte</source>
            <translation>完整校验</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Move to another folder…</source>
            <translation>移动到其他文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Show in files</source>
            <translation>在文件管理器中显示</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Move</source>
            <translation>移动</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Move {model} to</source>
            <translation>将 {model} 移动到</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Where they live</source>
            <translation>存放位置</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Add a folder…</source>
            <translation>添加文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Deleted</source>
            <translation>已删除</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Empty the trash</source>
            <translation>清空回收站</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>New models go here</source>
            <translation>新模型放在这里</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Take out of the library</source>
            <translation>从模型库移除</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>new models go here</source>
            <translation>新模型保存在此</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>{size} of models</source>
            <translation>模型 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>{size} of downloads</source>
            <translation>下载 {size}</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>{free} of {total} free</source>
            <translation>可用 {free}，共 {total}</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>How full the disk of {folder} is</source>
            <translation>{folder} 所在磁盘的使用情况</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>kept until {date}</source>
            <translation>保留至 {date}</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>Bring back</source>
            <translation>恢复</translation>
        </message>
        <message>
            <location filename="../../app/library/yours.py"></location>
            <source>A folder for models</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <location filename="../../app/library_desk.py"></location>
            <source>The folder of the model</source>
            <translation>模型所在的文件夹</translation>
        </message>
        <message>
            <location filename="../../app/library_desk.py"></location>
            <source>The file of the model</source>
            <translation>模型文件</translation>
        </message>
        <message>
            <location filename="../../app/library_desk.py"></location>
            <source>GGUF models</source>
            <translation>GGUF 模型</translation>
        </message>
        <message>
            <location filename="../../app/library_desk.py"></location>
            <source>{name} is in the trash.</source>
            <translation>{name} 已移到回收站。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>Underhill is already running but does not answer.</source>
            <translation>Underhill 已在运行，但没有响应。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>Wait a moment and try again, or end its process and start it anew; chats are kept.</source>
            <translation>请稍候再试，或结束其进程后重新启动；对话不会丢失。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>Underhill ended unexpectedly the last time.</source>
            <translation>Underhill 上次意外退出。</translation>
        </message>
        <message>
            <location filename="../../app/main.py"></location>
            <source>Your chats are safe. What was going on then is kept in {file}.</source>
            <translation>你的对话没有丢失。当时的情况记录在 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/model_desk.py"></location>
            <source>Write a message</source>
            <translation>输入消息</translation>
        </message>
        <message>
            <location filename="../../app/model_desk.py"></location>
            <source>Write a message – it is answered once the model is open</source>
            <translation>输入消息——模型打开后就会回答</translation>
        </message>
        <message>
            <location filename="../../app/model_desk.py"></location>
            <source>Choose a model above to begin</source>
            <translation>请先在上方选择模型</translation>
        </message>
        <message>
            <location filename="../../app/model_desk.py"></location>
            <source>Opening the model. This takes a moment the first time.</source>
            <translation>正在打开模型。第一次打开需要一点时间。</translation>
        </message>
        <message>
            <location filename="../../app/model_desk.py"></location>
            <source>Choose a model at the top, or import one you have.</source>
            <translation>请在上方选择模型，或导入你已有的模型。</translation>
        </message>
        <message>
            <location filename="../../app/model_desk.py"></location>
            <source>{model} runs through the compatibility backend.</source>
            <translation>{model} 通过兼容后端运行。</translation>
        </message>
        <message>
            <location filename="../../app/model_desk.py"></location>
            <source>It works, but more slowly than families that Underhill knows itself.</source>
            <translation>可以使用，但比 Underhill 原生支持的模型系列慢。</translation>
        </message>
        <message>
            <location filename="../../app/model_desk.py"></location>
            <source>{model} has been imported.</source>
            <translation>{model} 已导入。</translation>
        </message>
        <message>
            <location filename="../../app/models.py"></location>
            <source>Opening the model</source>
            <translation>正在打开模型</translation>
        </message>
        <message>
            <location filename="../../app/models.py"></location>
            <source>Reading the model's files</source>
            <translation>正在读取模型文件</translation>
        </message>
        <message>
            <location filename="../../app/panels/docks.py"></location>
            <source>Live</source>
            <translation>实时</translation>
        </message>
        <message>
            <location filename="../../app/panels/docks.py"></location>
            <source>Experts</source>
            <translation>专家</translation>
        </message>
        <message>
            <location filename="../../app/panels/docks.py"></location>
            <source>{title} panel</source>
            <translation>“{title}”面板</translation>
        </message>
        <message>
            <location filename="../../app/panels/docks.py"></location>
            <source>{title}: a window of its own, or back</source>
            <translation>{title}：分离为独立窗口，或放回</translation>
        </message>
        <message>
            <location filename="../../app/panels/docks.py"></location>
            <source>Close {title}</source>
            <translation>关闭“{title}”</translation>
        </message>
        <message>
            <location filename="../../app/panels/experts.py"></location>
            <source>What the colours mean</source>
            <translation>颜色的含义</translation>
        </message>
        <message>
            <location filename="../../app/panels/experts.py"></location>
            <source>A row for each layer, a column for each expert. Click one to see more of it.</source>
            <translation>每行一层，每列一个专家。点击某个专家可查看详情。</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>in memory</source>
            <translation>在内存中</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>read ahead in time</source>
            <translation>预取及时</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>read ahead, but late</source>
            <translation>预取过晚</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>fetched on demand</source>
            <translation>按需读取</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Nothing is running.</source>
            <translation>当前没有运行。</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Why this speed</source>
            <translation>速度说明</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Tokens per second over the last half minute</source>
            <translation>最近半分钟的每秒词元数</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>{rate} tokens/s</source>
            <translation>{rate} 词元/秒</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Prompt tokens per second over the last half minute</source>
            <translation>最近半分钟每秒读取的提示词词元数</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Disk reads over the last half minute</source>
            <translation>最近半分钟的磁盘读取</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Share of the time spent waiting for the disk, over the last half minute</source>
            <translation>最近半分钟等待磁盘的时间占比</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Cache hits and misses over the last half minute</source>
            <translation>最近半分钟的缓存命中与未命中</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>What reads ahead</source>
            <translation>预取依据</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Precision of expert uses over the last half minute</source>
            <translation>最近半分钟使用专家的精度</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Tokens per second</source>
            <translation>每秒词元数</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Reading the prompt</source>
            <translation>读取提示词</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Read from disk</source>
            <translation>磁盘读取</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Waiting for the disk</source>
            <translation>等待磁盘</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Memory</source>
            <translation>内存</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Experts asked for</source>
            <translation>请求的专家</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Precision</source>
            <translation>精度</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Answering.</source>
            <translation>正在回答。</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Underhill takes {amount} of {ceiling} that it may take.</source>
            <translation>Underhill 占用 {amount}，上限为 {ceiling}。</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>Underhill takes {amount}.</source>
            <translation>Underhill 占用 {amount}。</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>No expert was asked for yet.</source>
            <translation>还没有请求过专家。</translation>
        </message>
        <message>
            <location filename="../../app/panels/figures.py"></location>
            <source>under 1 %</source>
            <translation>不到 1%</translation>
        </message>
        <message>
            <location filename="../../app/panels/heatmap.py"></location>
            <source>Heatmap of layers and experts</source>
            <translation>层与专家的热力图</translation>
        </message>
        <message>
            <location filename="../../app/panels/heatmap.py"></location>
            <source>Waiting for a model</source>
            <translation>等待模型</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>Close what is said of this expert</source>
            <translation>关闭此专家的详情</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>Layer {layer}, expert {expert}</source>
            <translation>第 {layer} 层，专家 {expert}</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>{bits} bits, {place}</source>
            <translation>{bits} 位，{place}</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>nothing; it lies on the disk</source>
            <translation>无，位于磁盘上</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>{held}; being read at {bits} bits</source>
            <translation>{held}；正在以 {bits} 位读取</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>{last} last, {mean} on average</source>
            <translation>最近 {last}，平均 {mean}</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>Used</source>
            <translation>使用</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>{answer:,} in this answer, {uses:,} since opened</source>
            <translation>此回答中 {answer:,} 次，打开以来 {uses:,} 次</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>Ran coarse</source>
            <translation>粗略运行</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>Skipped</source>
            <translation>跳过</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>Gate weight</source>
            <translation>门控权重</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>none yet</source>
            <translation>暂无</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>Held</source>
            <translation>驻留</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>Bytes</source>
            <translation>字节</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>{part} of {whole} in memory</source>
            <translation>内存中 {part}，共 {whole}</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>never</source>
            <translation>从未</translation>
        </message>
        <message>
            <location filename="../../app/panels/inspector.py"></location>
            <source>{count:,} times, {share:.0f} % of its uses</source>
            <translation>{count:,} 次，占其使用的 {share:.0f}%</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>Underhill itself</source>
            <translation>Underhill 自身</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>other weights</source>
            <translation>其他权重</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>for computing</source>
            <translation>计算用</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>experts</source>
            <translation>专家</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>room for experts</source>
            <translation>留给专家的空间</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>not needed</source>
            <translation>未使用</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>Where the memory under the ceiling goes</source>
            <translation>上限内的内存用在哪里</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>Experts in graphics memory</source>
            <translation>显存中的专家</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>Known once a model is open.</source>
            <translation>打开模型后显示。</translation>
        </message>
        <message>
            <location filename="../../app/panels/memory.py"></location>
            <source>Graphics memory: {part} of {whole} of experts</source>
            <translation>显存：专家 {part}，共 {whole}</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>Uses in this answer</source>
            <translation>此回答中的使用次数</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>Uses since it was opened</source>
            <translation>打开以来的使用次数</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>Gate weight in this answer</source>
            <translation>此回答中的门控权重</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>Precision in memory</source>
            <translation>内存中的精度</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>Where it lies</source>
            <translation>存放位置</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>on disk</source>
            <translation>在磁盘上</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>in graphics memory</source>
            <translation>在显存中</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>small</source>
            <translation>小</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>large</source>
            <translation>大</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>now and then</source>
            <translation>偶尔</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>often</source>
            <translation>经常</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>{place} at {bits} bits</source>
            <translation>{place}，{bits} 位</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>{times} in this answer</source>
            <translation>此回答中{times}</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>{times} since the model was opened</source>
            <translation>模型打开以来{times}</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>mean gate weight {weight:.2f}</source>
            <translation>平均门控权重 {weight:.2f}</translation>
        </message>
        <message>
            <location filename="../../app/panels/pictures.py"></location>
            <source>not used</source>
            <translation>未使用</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/panels/pictures.py"></location>
            <source>used {count} times</source>
            <translation>
                <numerusform>使用 {count} 次</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/preferences.py"></location>
            <source>Your preferences could not be read, so the usual ones are used ({error}).</source>
            <translation>无法读取你的偏好设置，已改用默认设置（{error}）。</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>System prompt and sampling of this chat</source>
            <translation>此对话的系统提示词与采样</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>Presets</source>
            <translation>预设</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>Save as…</source>
            <translation>另存为…</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>Delete the preset</source>
            <translation>删除预设</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>Preset</source>
            <translation>预设</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>System prompt</source>
            <translation>系统提示词</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>What the model is told before the chat, such as: Answer in one sentence.</source>
            <translation>对话开始前告诉模型的话，例如：用一句话回答。</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>Texts that end an answer, one a line</source>
            <translation>停止词（每行一个，回答遇到时即结束）</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>\n stands for the end of a line.</source>
            <translation>\n 表示换行。</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>As the settings say</source>
            <translation>沿用设置</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>Use in this chat</source>
            <translation>用于此对话</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>None</source>
            <translation>无</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>Save preset</source>
            <translation>保存预设</translation>
        </message>
        <message>
            <location filename="../../app/presets/dialog.py"></location>
            <source>Name of the preset</source>
            <translation>预设名称</translation>
        </message>
        <message>
            <location filename="../../app/remedies.py"></location>
            <source>Start the engine again</source>
            <translation>重新启动引擎</translation>
        </message>
        <message>
            <location filename="../../app/remedies.py"></location>
            <source>Open the settings</source>
            <translation>打开设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Appearance</source>
            <translation>外观</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>How Underhill looks.</source>
            <translation>Underhill 的外观。</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Like the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>{number:.0f} %</source>
            <translation>{number:.0f}%</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>theme appearance dark light system colours</source>
            <comment>words of the search</comment>
            <translation>主题 外观 深色 浅色 跟随系统 颜色 theme dark light</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Theme</source>
            <translation>主题</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>size of text font appearance larger smaller</source>
            <comment>words of the search</comment>
            <translation>文字大小 字号 字体 放大 缩小 font size</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Size of text</source>
            <translation>文字大小</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Takes effect when Underhill is started again.</source>
            <translation>重新启动 Underhill 后生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Start it again now</source>
            <translation>立即重新启动</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Answers</source>
            <translation>回答</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>How words are chosen. In force from the next answer on.</source>
            <translation>如何选择用词。从下一个回答起生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Speed and precision</source>
            <translation>速度与精度</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>What runs how exactly, and where it waits.</source>
            <translation>哪些部分以多高的精度运行，以及存放在哪里。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>How much of this computer Underhill may use.</source>
            <translation>Underhill 可以使用这台电脑的多少资源。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Search settings</source>
            <translation>搜索设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Pages of settings</source>
            <translation>设置页面</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Advanced</source>
            <translation>高级</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Show the settings that few people need, too</source>
            <translation>同时显示很少用到的设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>No setting is called that.</source>
            <translation>没有找到这样的设置。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Which models these settings are for</source>
            <translation>这些设置适用于哪些模型</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>For all models</source>
            <translation>适用于所有模型</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Some changes take effect when the model is loaded again.</source>
            <translation>部分更改在重新加载模型后生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Load it again now</source>
            <translation>立即重新加载</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all…</source>
            <translation>全部重置…</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Only for {model}</source>
            <translation>仅适用于 {model}</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>threshold t1 t2 scores distribution picture</source>
            <comment>words of the search</comment>
            <translation>阈值 t1 t2 分数 分布 图 threshold</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>memory cache ceiling free room bar</source>
            <comment>words of the search</comment>
            <translation>内存 缓存 上限 空闲 memory</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all settings</source>
            <translation>重置所有设置</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all settings?</source>
            <translation>要重置所有设置吗？</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>All settings, those for single models too, go back to what they were at first. Chats and models stay.</source>
            <translation>所有设置（包括针对单个模型的设置）都将恢复为初始值。对话和模型会保留。</translation>
        </message>
        <message>
            <location filename="../../app/settings/dialog.py"></location>
            <source>Reset all</source>
            <translation>全部重置</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Takes effect when the model is loaded again.</source>
            <translation>重新加载模型后生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Reset</source>
            <translation>重置</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Reset {setting}</source>
            <translation>重置“{setting}”</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Does nothing unless {setting} is {value}.</source>
            <translation>只有当“{setting}”为“{value}”时才起作用。</translation>
        </message>
        <message>
            <location filename="../../app/settings/editor.py"></location>
            <source>Automatic</source>
            <translation>自动</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>at full precision</source>
            <translation>全精度</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>coarse</source>
            <translation>粗略</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>skipped</source>
            <translation>跳过</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Distribution of unimportance scores, with T1 and T2</source>
            <translation>不重要性分数的分布，以及 T1 和 T2</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>important</source>
            <translation>重要</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>unimportant</source>
            <translation>不重要</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Open a model to see its scores.</source>
            <translation>打开一个模型即可查看其分数。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>This model's scores are shown once they are measured, which Underhill does while nobody asks.</source>
            <translation>此模型的分数测量完成后会显示在这里；Underhill 会在空闲时测量。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>This model was measured before its scores were kept. To see them, have it measured again: {command}</source>
            <translation>测量此模型时还没有保存分数。要查看分数，请重新测量：{command}</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Under Exact every expert runs at full precision.</source>
            <translation>在“精确”模式下，所有专家都以全精度运行。</translation>
        </message>
        <message>
            <location filename="../../app/settings/scores.py"></location>
            <source>Of what has to be fetched from disk:</source>
            <translation>需要从磁盘读取的专家中：</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Access token</source>
            <translation>访问令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Asking the keyring…</source>
            <translation>正在查询密钥环…</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Paste a token</source>
            <translation>粘贴令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Keep</source>
            <translation>保存</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Forget</source>
            <translation>删除</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Forget the access token</source>
            <translation>删除访问令牌</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>There is one for {hub}, in the system's keyring.</source>
            <translation>系统密钥环中存有 {hub} 的令牌。</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>The one in the variable HF_TOKEN is used; it goes before the keyring.</source>
            <translation>正在使用环境变量 HF_TOKEN 中的令牌；它优先于密钥环。</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>There is none for {hub}. Models whose licence has to be accepted need one.</source>
            <translation>没有 {hub} 的令牌。需要先接受许可协议的模型必须有令牌才能下载。</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Trying it…</source>
            <translation>正在验证…</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Model folders</source>
            <translation>模型文件夹</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Models live in these folders, on as many disks as you like; new ones go into the first. Taking a folder out leaves what is in it on the disk.</source>
            <translation>模型存放在这些文件夹中，可以分布在任意多个磁盘上；新模型放入第一个文件夹。移除文件夹不会删除磁盘上的内容。</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Take out</source>
            <translation>移除</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>{amount} free</source>
            <translation>{amount} 可用</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>not connected</source>
            <translation>未连接</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Network and folders</source>
            <translation>网络与文件夹</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>Where models come from, and where they live.</source>
            <translation>模型从哪里来，存放在哪里。</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>access token hub keyring licence gated network</source>
            <comment>words of the search</comment>
            <translation>访问 令牌 模型站 密钥环 许可 网络 token hub</translation>
        </message>
        <message>
            <location filename="../../app/settings/shared.py"></location>
            <source>model folders disk library</source>
            <comment>words of the search</comment>
            <translation>模型 文件夹 磁盘 模型库</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Chats</source>
            <translation>对话</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Search all messages</source>
            <translation>搜索所有消息</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Take back the last deletion</source>
            <translation>撤销上一次删除</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Rename the chosen chat</source>
            <translation>重命名所选对话</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Move the chosen chats to a folder</source>
            <translation>把所选对话移到文件夹</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Delete the chosen chats</source>
            <translation>删除所选对话</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Send the message</source>
            <translation>发送消息</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>New line</source>
            <translation>换行</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Attach files</source>
            <translation>添加附件</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Stop the answer (again: no longer wait for it), or leave off editing</source>
            <translation>停止回答（再按一次：不再等待），或放弃编辑</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Answer the last question again</source>
            <translation>重新回答上一个问题</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Have a cut answer go on</source>
            <translation>让中断的回答继续</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Edit the last message (in an empty message box)</source>
            <translation>编辑上一条消息（输入框为空时）</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Copy the last answer</source>
            <translation>复制上一个回答</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Message before, message after (in the conversation)</source>
            <translation>上一条、下一条消息（在对话中）</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Show or hide the thought (in the conversation)</source>
            <translation>显示或隐藏思考（在对话中）</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>How the answer was made (in the conversation)</source>
            <translation>查看回答是怎样生成的（在对话中）</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Window</source>
            <translation>窗口</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Get and manage models</source>
            <translation>获取和管理模型</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Show or hide the list of chats</source>
            <translation>显示或隐藏对话列表</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Show or hide the live panel</source>
            <translation>显示或隐藏实时面板</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Next part of the window</source>
            <translation>窗口的下一部分</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>This list</source>
            <translation>本列表</translation>
        </message>
        <message>
            <location filename="../../app/shortcuts.py"></location>
            <source>Close Underhill</source>
            <translation>关闭 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/theme/tokens.py"></location>
            <source>32-bit</source>
            <translation>32 位</translation>
        </message>
        <message>
            <location filename="../../app/theme/tokens.py"></location>
            <source>16-bit</source>
            <translation>16 位</translation>
        </message>
        <message>
            <location filename="../../app/theme/tokens.py"></location>
            <source>8-bit</source>
            <translation>8 位</translation>
        </message>
        <message>
            <location filename="../../app/theme/tokens.py"></location>
            <source>4-bit</source>
            <translation>4 位</translation>
        </message>
        <message>
            <location filename="../../app/theme/tokens.py"></location>
            <source>2-bit</source>
            <translation>2 位</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>Version before</source>
            <translation>上一个版本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>Version after</source>
            <translation>下一个版本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>Copy message</source>
            <translation>复制消息</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>Edit and send again</source>
            <translation>编辑并重新发送</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>Answer again</source>
            <translation>重新回答</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>Go on from where it was cut</source>
            <translation>从中断处继续</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>New chat from here</source>
            <translation>从此处新建对话</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>Show the thought</source>
            <translation>显示思考过程</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>How this answer was made</source>
            <translation>这条回答是如何生成的</translation>
        </message>
        <message>
            <location filename="../../app/transcript/actions.py"></location>
            <source>Hide the thought</source>
            <translation>隐藏思考过程</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Save…</source>
            <translation>保存…</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>As a table (.csv) or as a picture (.png)</source>
            <translation>保存为表格（.csv）或图片（.png）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>the picture could not be written</source>
            <translation>图片无法写入</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>{file} could not be saved: {error}. Choose another folder.</source>
            <translation>无法保存 {file}：{error}。请选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>{name}: {value}</source>
            <translation>{name}：{value}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Save the figures</source>
            <translation>保存数据</translation>
        </message>
        <message>
            <location filename="../../app/transcript/details.py"></location>
            <source>Table (*.csv);;Picture (*.png)</source>
            <translation>表格 (*.csv);;图片 (*.png)</translation>
        </message>
        <message>
            <location filename="../../app/transcript/item.py"></location>
            <source>Thinking for {time}</source>
            <translation>已思考 {time}…</translation>
        </message>
        <message>
            <location filename="../../app/transcript/item.py"></location>
            <source>Thought for {time}</source>
            <translation>思考了 {time}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/item.py"></location>
            <source>Thought</source>
            <translation>思考过程</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>The answer reached the longest length that is set.</source>
            <translation>回答已达到设定的最大长度。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>The context is full: the model cannot read or write any more in this chat.</source>
            <translation>上下文已满：模型无法在此对话中继续读写。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>You stopped this answer.</source>
            <translation>你已停止这条回答。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>The answer broke off because of an error.</source>
            <translation>回答因出错而中断。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>The model reads from here on: what is above did not fit into the context.</source>
            <translation>模型从这里开始读取：以上内容超出了上下文。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/transcript/notes.py"></location>
            <source>The context is full: %n older turns were left out of what the model read.</source>
            <translation>
                <numerusform>上下文已满：模型没有读取最早的 %n 轮对话。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>, </source>
            <comment>between the names of a list</comment>
            <translation>、</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Attached: {names}</source>
            <translation>附件：{names}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>This answer was cut off when Underhill closed.</source>
            <translation>Underhill 关闭时，这条回答被中断。</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>first word after {time}</source>
            <translation>首字：{time}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{percent} % cache hits</source>
            <translation>缓存命中 {percent}%</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Tokens</source>
            <translation>词元数</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Time</source>
            <translation>用时</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Speed</source>
            <translation>速度</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Thought for</source>
            <translation>思考用时</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Prompt</source>
            <translation>提示词</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{count:,} tokens, {reused:,} of them known already</source>
            <translation>{count:,} 词元，其中 {reused:,} 个已处理过</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Time to the first token</source>
            <translation>首个词元耗时</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Prompt speed</source>
            <translation>提示词处理速度</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{hits:,} of {uses:,} ({percent} %)</source>
            <translation>{hits:,} / {uses:,}（{percent}%）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Experts found in memory</source>
            <translation>在内存中命中的专家</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Experts skipped</source>
            <translation>跳过的专家</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Experts run at {bits} bits</source>
            <translation>以 {bits} 位运行的专家</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{uses:,} ({percent} %)</source>
            <translation>{uses:,}（{percent}%）</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>Most memory taken</source>
            <translation>内存峰值</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{percent} % at {bits} bits</source>
            <translation>{bits} 位占 {percent}%</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>less than 0.1 s</source>
            <translation>不到 0.1 秒</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{seconds} s</source>
            <translation>{seconds} 秒</translation>
        </message>
        <message>
            <location filename="../../app/transcript/notes.py"></location>
            <source>{minutes} min {seconds} s</source>
            <translation>{minutes} 分 {seconds} 秒</translation>
        </message>
        <message>
            <location filename="../../app/transcript/paint.py"></location>
            <source>text</source>
            <comment>code in no known language</comment>
            <translation>文本</translation>
        </message>
        <message>
            <location filename="../../app/transcript/paint.py"></location>
            <source>Copied</source>
            <translation>已复制</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Conversation</source>
            <translation>对话</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Go to the end</source>
            <translation>转到末尾</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>You: {text}</source>
            <translation>你：{text}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Answer: {text}</source>
            <translation>回答：{text}</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Copy selection</source>
            <translation>复制所选内容</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Copy selection as Markdown</source>
            <translation>将所选内容复制为 Markdown</translation>
        </message>
        <message>
            <location filename="../../app/transcript/view.py"></location>
            <source>Go on from here</source>
            <translation>从此处继续</translation>
        </message>
        <message>
            <location filename="../../app/transfer/backup.py"></location>
            <source>{file} is no backup of Underhill's chats, or it is damaged.</source>
            <translation>{file} 不是 Underhill 的对话备份，或已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/backup.py"></location>
            <source>Choose another file. Your chats are as they were.</source>
            <translation>请选择其他文件。你的对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/backup.py"></location>
            <source>{file} is damaged.</source>
            <translation>{file} 已损坏。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/backup.py"></location>
            <source>{file} comes from another version of Underhill.</source>
            <translation>{file} 来自其他版本的 Underhill。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/backup.py"></location>
            <source>Install a newer version, then restore it there. Your chats are as they were.</source>
            <translation>请安装更新的版本后再恢复。你的对话没有改动。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Chats (*.json *.zip);;All files (*)</source>
            <translation>对话 (*.json *.zip);;所有文件 (*)</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Backup of chats (*.db);;All files (*)</source>
            <translation>对话备份 (*.db);;所有文件 (*)</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Import chats…</source>
            <translation>导入对话…</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Export all chats…</source>
            <translation>导出所有对话…</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Back up all chats…</source>
            <translation>备份所有对话…</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Export chat</source>
            <translation>导出对话</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>The chat was written to {file}.</source>
            <translation>对话已导出到 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Export all chats</source>
            <translation>导出所有对话</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/transfer/desk.py"></location>
            <source>%n chats were written to {file}.</source>
            <translation>
                <numerusform>已将 %n 个对话导出到 {file}。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Import chats</source>
            <translation>导入对话</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/transfer/desk.py"></location>
            <source>%n chats were imported from {file}.</source>
            <translation>
                <numerusform>已从 {file} 导入 %n 个对话。</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Back up all chats</source>
            <translation>备份所有对话</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>All chats are backed up in {file}.</source>
            <translation>所有对话已备份到 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>An answer is being written.</source>
            <translation>正在生成回答。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Stop it, then restore the backup.</source>
            <translation>请先停止，再恢复备份。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Restore a backup</source>
            <translation>从备份恢复</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>The chats of {file} are back.</source>
            <translation>已从 {file} 恢复对话。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Those before it are kept as {file}.</source>
            <translation>恢复前的对话保存为 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>The disk is full.</source>
            <translation>磁盘已满。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Free some space or choose another disk.</source>
            <translation>请释放一些空间，或选择其他磁盘。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>{file} is not there any more.</source>
            <translation>{file} 已不存在。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Choose another file.</source>
            <translation>请选择其他文件。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Underhill may not use {file}.</source>
            <translation>Underhill 没有权限使用 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Choose another folder.</source>
            <translation>请选择其他文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>{file} could not be read or written.</source>
            <translation>无法读写 {file}。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/desk.py"></location>
            <source>Choose another file or folder.</source>
            <translation>请选择其他文件或文件夹。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/exporting.py"></location>
            <source>You</source>
            <translation>你</translation>
        </message>
        <message>
            <location filename="../../app/transfer/exporting.py"></location>
            <source>Answer</source>
            <translation>回答</translation>
        </message>
        <message>
            <location filename="../../app/transfer/exporting.py"></location>
            <source>Chat</source>
            <translation>对话</translation>
        </message>
        <message>
            <location filename="../../app/transfer/importing.py"></location>
            <source>{file} holds no chats that Underhill can read.</source>
            <translation>{file} 中没有 Underhill 能读取的对话。</translation>
        </message>
        <message>
            <location filename="../../app/transfer/importing.py"></location>
            <source>Choose a JSON file that Underhill has written, or the export of ChatGPT (conversations.json or its ZIP).</source>
            <translation>请选择由 Underhill 导出的 JSON 文件，或 ChatGPT 的导出文件（conversations.json 或其 ZIP 压缩包）。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Inter (typeface)</source>
            <translation>Inter（字体）</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>JetBrains Mono (typeface)</source>
            <translation>JetBrains Mono（字体）</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Droid Sans Fallback (typeface)</source>
            <translation>Droid Sans Fallback（字体）</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Icons and the built-in model</source>
            <translation>图标和内置模型</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>part of Underhill</source>
            <translation>Underhill 的一部分</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>About Underhill</source>
            <translation>关于 Underhill</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Chat offline with Mixture-of-Experts models bigger than your computer's memory.</source>
            <translation>离线与大于电脑内存的混合专家（MoE）模型对话。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>from source</source>
            <translation>源码版本</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Chats and settings: {folder}</source>
            <translation>对话与设置：{folder}</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Versions and folders</source>
            <translation>版本与文件夹</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Parts and their licences</source>
            <translation>组件及其许可证</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Made with</source>
            <translation>组件</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Version</source>
            <translation>版本</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Licence</source>
            <translation>许可证</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>Copy details</source>
            <translation>复制详情</translation>
        </message>
        <message>
            <location filename="../../app/widgets/about.py"></location>
            <source>see the package</source>
            <translation>见软件包</translation>
        </message>
        <message>
            <location filename="../../app/widgets/banner.py"></location>
            <source>Dismiss</source>
            <translation>关闭提示</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_list.py"></location>
            <source>Found in {title}: {words}</source>
            <translation>在“{title}”中找到：{words}</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_list.py"></location>
            <source>Pinned chat: {title}</source>
            <translation>置顶对话：{title}</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_list.py"></location>
            <source>Chat: {title}</source>
            <translation>对话：{title}</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_list.py"></location>
            <source>Folder {title}, {count} chats, open</source>
            <translation>文件夹“{title}”，{count} 个对话，已展开</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_list.py"></location>
            <source>Folder {title}, {count} chats, closed</source>
            <translation>文件夹“{title}”，{count} 个对话，已折叠</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_rows.py"></location>
            <source>Pinned</source>
            <translation>置顶</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_rows.py"></location>
            <source>Titles</source>
            <translation>标题</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_rows.py"></location>
            <source>Messages</source>
            <translation>消息</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_rows.py"></location>
            <source>The latest {most} messages</source>
            <translation>最近 {most} 条消息</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_rows.py"></location>
            <source>Today</source>
            <translation>今天</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_rows.py"></location>
            <source>Yesterday</source>
            <translation>昨天</translation>
        </message>
        <message>
            <location filename="../../app/widgets/chat_rows.py"></location>
            <source>Last seven days</source>
            <translation>过去七天</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/widgets/chat_view.py"></location>
            <source>%n chats</source>
            <translation>
                <numerusform>%n 个对话</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>Messages that wait</source>
            <translation>等待发送的消息</translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>Attachments</source>
            <translation>附件</translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>Message</source>
            <translation>消息</translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>Send</source>
            <translation>发送</translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>Press to see what the model reads of it.</source>
            <translation>点按可查看模型从中读到的内容。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>{name}  ·  {count:,} tokens</source>
            <translation>{name}  ·  {count:,} 词元</translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>Sent when this answer has ended. Press to change it.</source>
            <translation>此回答结束后发送。点按可修改。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/composer.py"></location>
            <source>Write the next message: it is sent when this answer has ended</source>
            <translation>输入下一条消息：此回答结束后发送</translation>
        </message>
        <message>
            <location filename="../../app/widgets/format.py"></location>
            <source>about a minute left</source>
            <translation>剩余约 1 分钟</translation>
        </message>
        <message>
            <location filename="../../app/widgets/format.py"></location>
            <source>{seconds:.0f} s left</source>
            <translation>剩余 {seconds:.0f} 秒</translation>
        </message>
        <message>
            <location filename="../../app/widgets/format.py"></location>
            <source>{minutes:.0f} min left</source>
            <translation>剩余 {minutes:.0f} 分钟</translation>
        </message>
        <message>
            <location filename="../../app/widgets/format.py"></location>
            <source>{hours:.1f} h left</source>
            <translation>剩余 {hours:.1f} 小时</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>No model</source>
            <translation>没有模型</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Offline</source>
            <translation>离线</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Think before answering</source>
            <translation>回答前先思考</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Keyboard shortcuts</source>
            <translation>键盘快捷键</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>About this computer</source>
            <translation>关于这台电脑</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Privacy</source>
            <translation>隐私</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Progress</source>
            <translation>进度</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Model: {name}</source>
            <translation>模型：{name}</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Importing: {step}</source>
            <translation>正在导入：{step}</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Could not be opened</source>
            <translation>无法打开</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>The variable HF_HUB_OFFLINE is set: nothing of Underhill uses the network. Click to see the setting.</source>
            <translation>已设置环境变量 HF_HUB_OFFLINE：Underhill 完全不使用网络。点击查看此设置。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>“Stay offline” is on: nothing of Underhill uses the network. Click to see the setting.</source>
            <translation>“保持离线”已开启：Underhill 完全不使用网络。点击查看此设置。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Offline: open the setting</source>
            <translation>离线：打开此设置</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Get and manage models…</source>
            <translation>获取和管理模型…</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Import a model folder…</source>
            <translation>导入模型文件夹…</translation>
        </message>
        <message>
            <location filename="../../app/widgets/header.py"></location>
            <source>Built-in model</source>
            <translation>内置模型</translation>
        </message>
        <message>
            <location filename="../../app/widgets/import_dialog.py"></location>
            <source>8 bits – practically the original, half of its size or less</source>
            <translation>8 位——与原模型几乎无异，大小为一半或更小</translation>
        </message>
        <message>
            <location filename="../../app/widgets/import_dialog.py"></location>
            <source>4 bits – nearly as good, half the size of 8 bits</source>
            <translation>4 位——效果接近，大小为 8 位的一半</translation>
        </message>
        <message>
            <location filename="../../app/widgets/import_dialog.py"></location>
            <source>16 bits – as it is; for small models</source>
            <translation>16 位——保持原样；适合小模型</translation>
        </message>
        <message>
            <location filename="../../app/widgets/import_dialog.py"></location>
            <source>Import a model</source>
            <translation>导入模型</translation>
        </message>
        <message>
            <location filename="../../app/widgets/import_dialog.py"></location>
            <source>Underhill makes its own copy of the model, cut into experts that can be read one by one. What is there is left as it is. This can take a while; you can go on chatting.</source>
            <translation>Underhill 会为模型制作自己的副本，并拆分成可以逐个读取的专家。原有文件保持不变。这可能需要一些时间，期间可以继续对话。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/import_dialog.py"></location>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <location filename="../../app/widgets/import_dialog.py"></location>
            <source>From</source>
            <translation>来源</translation>
        </message>
        <message>
            <location filename="../../app/widgets/import_dialog.py"></location>
            <source>Import</source>
            <translation>导入</translation>
        </message>
        <message>
            <location filename="../../app/widgets/meter.py"></location>
            <source>Context that is taken</source>
            <translation>已占用的上下文</translation>
        </message>
        <message>
            <location filename="../../app/widgets/meter.py"></location>
            <source>{draft} tokens  ·  {share} of context</source>
            <translation>{draft} 词元  ·  上下文的 {share}</translation>
        </message>
        <message>
            <location filename="../../app/widgets/meter.py"></location>
            <source>{share} of context</source>
            <translation>上下文的 {share}</translation>
        </message>
        <message>
            <location filename="../../app/widgets/meter.py"></location>
            <source>This message is longer than the {context} tokens that the model sees at a time. Shorten it.</source>
            <translation>此消息超过了模型一次能读取的 {context} 词元。请缩短。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/meter.py"></location>
            <source>Chat and message take {used} tokens; the model sees {context} at a time. The oldest turns will be left out; the system prompt stays.</source>
            <translation>对话和消息共占 {used} 词元，而模型一次能读取 {context} 词元。最早的几轮对话将被略去，系统提示词会保留。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/meter.py"></location>
            <source>Chat and message take {used} of the {context} tokens that the model sees at a time.</source>
            <translation>模型一次能读取 {context} 词元，对话和消息占用了其中的 {used}。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/privacy.py"></location>
            <source>privacy.md</source>
            <comment>name of the file with the page about privacy</comment>
            <translation>privacy.zh_CN.md</translation>
        </message>
        <message>
            <location filename="../../app/widgets/privacy.py"></location>
            <source>What Underhill sends, and to whom</source>
            <translation>Underhill 发送什么、发给谁</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Folders, import, export and backup</source>
            <translation>文件夹、导入、导出与备份</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Your chats will be listed here.</source>
            <translation>你的对话会列在这里。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>No chat has that.</source>
            <translation>没有找到匹配的对话。</translation>
        </message>
        <message numerus="yes">
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Delete %n chats</source>
            <translation>
                <numerusform>删除 %n 个对话</numerusform>
            </translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Move to folder</source>
            <translation>移到文件夹</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Remove folder, keep its chats</source>
            <translation>移除文件夹，保留其中的对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Unpin</source>
            <translation>取消置顶</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Pin to the top</source>
            <translation>置顶</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Export as Markdown…</source>
            <translation>导出为 Markdown…</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Export as JSON…</source>
            <translation>导出为 JSON…</translation>
        </message>
        <message>
            <location filename="../../app/widgets/sidebar.py"></location>
            <source>Out of its folder</source>
            <translation>移出文件夹</translation>
        </message>
        <message>
            <location filename="../../app/widgets/trash_dialog.py"></location>
            <source>Recently deleted</source>
            <translation>最近删除</translation>
        </message>
        <message>
            <location filename="../../app/widgets/trash_dialog.py"></location>
            <source>Deleted chats</source>
            <translation>已删除的对话</translation>
        </message>
        <message>
            <location filename="../../app/widgets/trash_dialog.py"></location>
            <source>Restore</source>
            <translation>恢复</translation>
        </message>
        <message>
            <location filename="../../app/widgets/trash_dialog.py"></location>
            <source>Delete for good</source>
            <translation>永久删除</translation>
        </message>
        <message>
            <location filename="../../app/widgets/trash_dialog.py"></location>
            <source>Delete all for good</source>
            <translation>全部永久删除</translation>
        </message>
        <message>
            <location filename="../../app/widgets/trash_dialog.py"></location>
            <source>Deleted chats are kept for {days} days, then removed for good.</source>
            <translation>已删除的对话会保留 {days} 天，之后永久删除。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/trash_dialog.py"></location>
            <source>No chat has been deleted.</source>
            <translation>没有已删除的对话。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>Hello! Who are you?</source>
            <translation>你好！你是谁？</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>What can you help me with?</source>
            <translation>你能帮我做什么？</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>Tell me a short story about a fox.</source>
            <translation>给我讲一个关于狐狸的小故事。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>What is the sun?</source>
            <translation>太阳是什么？</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>Explain how a Mixture-of-Experts model works, with an everyday comparison.</source>
            <translation>用生活中的例子解释混合专家模型是怎样工作的。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>Write a Python function that finds duplicate files in a folder.</source>
            <translation>写一个 Python 函数，找出文件夹里的重复文件。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>Help me plan a week of simple dinners for two.</source>
            <translation>帮我安排一周两人份的简单晚餐。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>Summarise the pros and cons of heat pumps in a table.</source>
            <translation>用表格总结热泵的优缺点。</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>What would you like to talk about?</source>
            <translation>想聊点什么？</translation>
        </message>
        <message>
            <location filename="../../app/widgets/welcome.py"></location>
            <source>Ask: {question}</source>
            <translation>提问：{question}</translation>
        </message>
        <message>
            <location filename="../../app/window.py"></location>
            <source>You are editing an earlier message.</source>
            <translation>你正在编辑之前的消息。</translation>
        </message>
        <message>
            <location filename="../../app/window.py"></location>
            <source>Sending it starts a new version from there; Esc leaves it as it was.</source>
            <translation>发送后会从那里开始一个新版本；按 Esc 保持原样。</translation>
        </message>
        <message>
            <location filename="../../app/window.py"></location>
            <source>Your settings cannot be saved.</source>
            <translation>无法保存你的设置。</translation>
        </message>
        <message>
            <location filename="../../app/window.py"></location>
            <source>They hold until you close Underhill.</source>
            <translation>这些设置在关闭 Underhill 之前有效。</translation>
        </message>
    </context>
</TS>
